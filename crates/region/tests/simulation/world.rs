//! A whole region in simulated time.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use model::AgentId;
use region::coordinator::Coordinator;
use region::lease::Promises;
use region::loan::Lender;
use region::roster::Mode;
use region::{Effect, Message, Millis, Peer};

use crate::dice::Dice;
use crate::engine::Engine;
use crate::faults::Fault;
use crate::network::Network;
use crate::node::{Clock, Node};
use crate::referee::Referee;
use crate::region_of::{Registrar, SETTINGS};
use crate::web::Web;

/// Term of a loan: longer than a run.
const LOAN_MS: u64 = 24 * 3_600_000;

/// What travels between parties.
#[derive(Debug, Clone)]
pub(crate) enum Packet {
    Region(Message),
    LoanRequest(Millis),
    Loan { term_ms: u64, asked: Millis },
}

#[derive(Debug)]
pub(crate) enum Event {
    Deliver {
        from: Peer,
        to: Peer,
        packet: Packet,
    },
    Wake {
        node: usize,
    },
    /// The engine looks for hosts to fetch from.
    Work {
        node: usize,
        incarnation: u64,
    },
    FetchEnd {
        node: usize,
        incarnation: u64,
        host: usize,
        number: u64,
    },
    Start {
        node: usize,
    },
    Begin(Fault),
    Join {
        links: BTreeSet<(Peer, Peer)>,
    },
    EndLoss,
    WakeUp {
        node: usize,
    },
    AskLoan {
        node: usize,
    },
    Check,
    Heal,
}

pub(crate) struct World {
    pub(crate) now: u64,
    pub(crate) mode: Mode,
    events: BinaryHeap<Reverse<(u64, u64)>>,
    pending: BTreeMap<u64, Event>,
    next_event: u64,
    pub(crate) nodes: Vec<Node>,
    pub(crate) coordinator: Coordinator,
    /// What the coordinator stored.
    stored_promises: Promises,
    pub(crate) registrar: Registrar,
    pub(crate) network: Network,
    pub(crate) web: Web,
    pub(crate) referee: Referee,
    pub(crate) dice: Dice,
    pub(crate) joiner: Option<AgentId>,
    pub(crate) fetches: u64,
    pub(crate) found: Vec<String>,
    /// Loss without a fault, for [`Event::EndLoss`].
    pub(crate) usual_loss: u64,
    trace: DefaultHasher,
}

impl World {
    pub(crate) fn new(seed: u64, mode: Mode) -> Self {
        let mut dice = Dice::new(seed);
        let agents: Vec<AgentId> =
            (1..=dice.between(2, 7).cast_signed()).map(AgentId::new).collect();
        let joiner = AgentId::new(agents.len().cast_signed() as i64 + 1);
        let web = Web::new(dice.between(6, 14) as usize, &mut dice);
        let recovery = dice.between(1, 3) as u8;
        let registrar = Registrar::new(mode, &agents, web.hosts.len(), recovery, &mut dice);
        let signed = registrar.view.signed().clone();
        let lender = Lender::new(LOAN_MS, SETTINGS.drift, Millis(0));
        let key = registrar.public();
        let promises = Promises::default();
        let coordinator =
            Coordinator::new(&key, SETTINGS, signed, promises, lender, Millis(0)).unwrap();
        let nodes = agents.iter().chain([&joiner]).map(|agent| node(*agent, &mut dice)).collect();
        let usual_loss = dice.between(0, 40);
        let network = Network::new(usual_loss);
        Self {
            now: 0,
            mode,
            events: BinaryHeap::new(),
            pending: BTreeMap::new(),
            next_event: 0,
            nodes,
            coordinator,
            stored_promises: Promises::default(),
            registrar,
            network,
            web,
            referee: Referee::default(),
            dice,
            joiner: Some(joiner),
            fetches: 0,
            found: Vec::new(),
            usual_loss,
            trace: DefaultHasher::new(),
        }
    }

    pub(crate) fn after(&mut self, ms: u64, event: Event) {
        self.events.push(Reverse((self.now + ms, self.next_event)));
        self.pending.insert(self.next_event, event);
        self.next_event += 1;
    }

    /// The next event before `end`, with time moved to it.
    pub(crate) fn next(&mut self, end: u64) -> Option<Event> {
        let Reverse((at, number)) = *self.events.peek()?;
        if at > end {
            return None;
        }
        self.events.pop();
        self.now = at;
        self.pending.remove(&number)
    }

    /// Adds something that happened to the trace.
    pub(crate) fn note(&mut self, what: impl std::hash::Hash) {
        self.now.hash(&mut self.trace);
        what.hash(&mut self.trace);
    }

    /// Hash of everything that happened.
    pub(crate) fn trace(&self) -> u64 {
        self.trace.finish()
    }

    pub(crate) fn send(&mut self, from: Peer, to: Peer, packet: &Packet) {
        for delay in self.network.send(from, to, &mut self.dice) {
            let packet = packet.clone();
            self.after(delay, Event::Deliver { from, to, packet });
        }
    }

    pub(crate) fn index(agent: AgentId) -> usize {
        agent.get() as usize - 1
    }

    pub(crate) fn peers(&self) -> Vec<Peer> {
        let agents = self.nodes.iter().map(|node| Peer::Agent(node.agent));
        agents.chain([Peer::Coordinator]).collect()
    }

    pub(crate) fn deliver(&mut self, from: Peer, to: Peer, packet: Packet) {
        self.note((from, to, kind(&packet)));
        match to {
            Peer::Coordinator => self.at_coordinator(from, packet),
            Peer::Agent(agent) => self.at_node(Self::index(agent), from, packet),
        }
    }

    fn at_coordinator(&mut self, from: Peer, packet: Packet) {
        let Peer::Agent(agent) = from else { return };
        let now = Millis(self.now);
        match packet {
            Packet::Region(message) => {
                for effect in self.coordinator.handle(agent, message, now) {
                    self.coordinator_effect(effect);
                }
            }
            Packet::LoanRequest(asked) => {
                let term_ms = self.coordinator.lend(now);
                self.send(Peer::Coordinator, from, &Packet::Loan { term_ms, asked });
            }
            Packet::Loan { .. } => {}
        }
    }

    fn coordinator_effect(&mut self, effect: Effect) {
        match effect {
            Effect::Send(to, message) => {
                self.send(Peer::Coordinator, to, &Packet::Region(message));
            }
            Effect::SavePromises(promises) => {
                self.stored_promises = promises;
                self.coordinator.note_saved();
            }
            other => self.found.push(format!("the coordinator asks for {other:?}")),
        }
    }

    /// Ends the coordinator's process and starts it again with what it stored.
    pub(crate) fn restart_coordinator(&mut self) {
        let promises = self.stored_promises.clone();
        let lender = Lender::new(LOAN_MS, SETTINGS.drift, self.coordinator.lender().until());
        let key = self.registrar.public();
        let view = self.registrar.view.signed().clone();
        let now = Millis(self.now);
        self.coordinator = Coordinator::new(&key, SETTINGS, view, promises, lender, now).unwrap();
    }

    pub(crate) fn publish(&mut self) {
        let view = self.registrar.view.clone();
        for effect in self.coordinator.publish(view) {
            self.coordinator_effect(effect);
        }
    }
}

fn node(agent: AgentId, dice: &mut Dice) -> Node {
    let clock = Clock {
        offset: dice.between(0, 1 << 40),
        error_ppm: dice.between(0, 38_000).cast_signed() - 19_000,
    };
    Node {
        agent,
        clock,
        member: None,
        disk: None,
        engine: Engine::default(),
        incarnation: 0,
        running: BTreeMap::new(),
        next_at: BTreeMap::new(),
        holds: BTreeSet::new(),
        crash_in: None,
        loses_disk: false,
        down_ms: Some(0),
        wake_at: u64::MAX,
    }
}

fn kind(packet: &Packet) -> u8 {
    match packet {
        Packet::LoanRequest(_) => 0,
        Packet::Loan { .. } => 1,
        Packet::Region(message) => match message {
            Message::Heartbeat(_) => 2,
            Message::View(_) => 3,
            Message::LeaseRequest(_) => 4,
            Message::LeaseAnswer(_) => 5,
            Message::Urls(_) => 6,
            Message::UrlsTaken(_) => 7,
            Message::BundleRequest(_) => 8,
            Message::Bundle(_) => 9,
            Message::BundleTaken(_) => 10,
            Message::NoBundle(_) => 11,
            // Transports ask mailboxes; members never do.
            Message::Collect => 12,
        },
    }
}
