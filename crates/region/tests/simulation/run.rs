//! One run from a seed: events until the end, faults until the healing, and what must hold.

use region::delegations::Delegate;
use region::roster::{Mode, voters_may_change};
use std::collections::BTreeSet;

use region::Peer;

use crate::faults::{Fault, HEALED, schedule};
use crate::world::{Event, World};

/// After the healing, owners and leases must have settled within this time: the promises of former
/// leases, the end of running fetches, suspicion and a few renewals.
const SETTLE_MS: u64 = 240_000;
/// After that, the rest of the crawl takes this long at most. URLs of agents that were away for
/// long are passed on several times, each time after a term of leases.
const FINISH_MS: u64 = 2_600_000;
/// Interval at which it is asked whether the crawl is complete.
const STEP_MS: u64 = 65_000;
/// Interval at which the permits of all agents are compared. Those of an agent that something
/// happened to are compared at once.
const CHECK_MS: u64 = 2_500;

/// Result of a run.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) trace: u64,
    pub(crate) pages: usize,
    pub(crate) fetches: u32,
    pub(crate) repeated: u32,
    pub(crate) missing: usize,
    /// Violations of what must hold, in words.
    pub(crate) found: Vec<String>,
}

pub(crate) fn run(seed: u64, mode: Mode, loses_disks: bool) -> Outcome {
    let mut world = World::new(seed, mode);
    let peers = world.peers();
    let hosts = world.web.hosts.len();
    for (at, fault) in schedule(&peers, hosts, loses_disks, &mut world.dice) {
        world.after(at, Event::Begin(fault));
    }
    for node in 0..world.nodes.len() - 1 {
        world.after(0, Event::Start { node });
    }
    world.after(CHECK_MS, Event::Check);
    world.after(HEALED, Event::Heal);
    world.run_until(HEALED + SETTLE_MS);
    let end = world.now + FINISH_MS;
    while world.now < end && !world.unfinished(loses_disks).is_empty() {
        world.run_until(world.now + STEP_MS);
    }
    let unfinished = world.unfinished(loses_disks);
    world.found.extend(unfinished);
    if mode == Mode::Safe {
        let impolite = std::mem::take(&mut world.referee.impolite);
        world.found.extend(impolite);
    }
    Outcome {
        trace: world.trace(),
        pages: world.web.pages().count(),
        fetches: world.referee.started,
        repeated: world.referee.repeated,
        missing: world.referee.missing(&world.web).len(),
        found: world.found,
    }
}

impl World {
    fn run_until(&mut self, end: u64) {
        while let Some(event) = self.next(end) {
            let node = Self::node_of(&event);
            self.happen(event);
            if let Some(node) = node {
                self.check_new_holds(node);
            }
        }
        self.now = end;
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Deliver { from, to, packet } => self.deliver(from, to, packet),
            Event::Wake { node } => {
                if self.nodes[node].wake_at <= self.now {
                    self.tick(node);
                }
            }
            Event::Work { node, incarnation } => self.work(node, incarnation),
            Event::FetchEnd { node, incarnation, host, number } => {
                self.end_fetch(node, incarnation, host, number);
            }
            Event::Start { node } => self.start(node),
            Event::Begin(fault) => self.begin(fault),
            Event::Join { links } => self.network.join(&links),
            Event::EndLoss => self.network.loss_per_mille = self.usual_loss,
            Event::WakeUp { node } => {
                let now = self.local(node);
                if let Some(member) = &mut self.nodes[node].member {
                    member.wake(now);
                    self.tick(node);
                }
            }
            Event::AskLoan { node } => self.ask_loan(node),
            Event::Check => {
                self.check_holders();
                self.after(CHECK_MS, Event::Check);
            }
            Event::Heal => self.heal(),
        }
    }

    fn begin(&mut self, fault: Fault) {
        self.note(format!("{fault:?}"));
        match fault {
            Fault::Crash { node, down_ms, keeps_disk, after_effects } => {
                if self.nodes[node].member.is_some() {
                    self.nodes[node].down_ms = Some(down_ms);
                    self.nodes[node].loses_disk = !keeps_disk;
                    self.nodes[node].crash_in = Some(after_effects);
                    self.tick(node);
                    if self.nodes[node].member.is_some() {
                        self.crash(node);
                    }
                }
            }
            Fault::CrashForLong { node } => {
                if self.nodes[node].member.is_some() {
                    self.nodes[node].down_ms = None;
                    self.crash(node);
                }
            }
            Fault::Cut { links, for_ms } => self.cut(links, for_ms),
            Fault::CoordinatorCrash => self.restart_coordinator(),
            Fault::Restart { cut, links, for_ms, keeps_disk } => {
                self.cut(links, for_ms);
                self.restart_all_but(cut, keeps_disk);
            }
            Fault::Loss { per_mille, for_ms } => {
                self.network.loss_per_mille = per_mille;
                self.after(for_ms, Event::EndLoss);
            }
            Fault::Sleep { node, for_ms } => {
                let now = self.local(node);
                if let Some(member) = &mut self.nodes[node].member {
                    member.sleep(for_ms, now);
                    self.tick(node);
                    self.after(for_ms, Event::WakeUp { node });
                }
            }
            Fault::CoordinatorAway { for_ms } => {
                let peers = self.peers();
                let both = |peer: &Peer| [(Peer::Coordinator, *peer), (*peer, Peer::Coordinator)];
                self.cut(peers.iter().flat_map(both).collect(), for_ms);
            }
            Fault::Weight { node, weight } => {
                self.registrar.weigh(self.nodes[node].agent, weight);
                self.publish();
            }
            Fault::Delegate { host, to } => {
                let agent = to.map(|node| self.nodes[node].agent);
                let agent = agent.filter(|agent| self.registrar.agents().contains(agent));
                let delegate = agent.map_or(Delegate::Spread, Delegate::Agent);
                self.registrar.delegate(host, delegate);
                self.publish();
            }
            Fault::Join => self.join_agent(),
        }
    }

    fn restart_all_but(&mut self, cut: usize, keeps_disk: bool) {
        self.restart_coordinator();
        for node in (0..self.nodes.len()).filter(|node| *node != cut) {
            let down_ms = self.dice.between(500, 9_000);
            let after_ms = self.dice.between(0, 20_000);
            let crash = Fault::Crash { node, down_ms, keeps_disk, after_effects: 0 };
            self.after(after_ms, Event::Begin(crash));
        }
    }

    fn cut(&mut self, links: BTreeSet<(Peer, Peer)>, for_ms: u64) {
        self.network.cut(&links);
        self.after(for_ms, Event::Join { links });
    }

    /// Another agent joins, if the rule for voters permits it now.
    fn join_agent(&mut self) {
        let Some(agent) = self.joiner else { return };
        let mut agents = self.registrar.agents();
        agents.insert(agent);
        let floors = self.coordinator.floors();
        // The first set of voters was never another one, so nothing has to settle.
        if voters_may_change(&self.registrar.roster, &agents, &floors, true) {
            self.joiner = None;
            self.registrar.add(agent);
            self.publish();
            self.after(1, Event::Start { node: self.nodes.len() - 1 });
        }
    }

    fn heal(&mut self) {
        self.network.loss_per_mille = 5;
        self.usual_loss = 5;
        for node in 0..self.nodes.len() {
            let is_member = self.registrar.agents().contains(&self.nodes[node].agent);
            let now = self.local(node);
            match &mut self.nodes[node].member {
                Some(member) => member.wake(now),
                None if is_member => self.start(node),
                None => {}
            }
        }
    }

    /// The agent to which an event happens.
    fn node_of(event: &Event) -> Option<usize> {
        match event {
            Event::Deliver { to: Peer::Agent(agent), .. } => Some(Self::index(*agent)),
            Event::Wake { node }
            | Event::Work { node, .. }
            | Event::FetchEnd { node, .. }
            | Event::Start { node }
            | Event::WakeUp { node } => Some(*node),
            _ => None,
        }
    }

    /// In mode `safe`, an agent that may fetch from a host since this event must be the only one.
    /// Two agents begin to overlap only when one of them begins to hold the host.
    fn check_new_holds(&mut self, node: usize) {
        if self.mode != Mode::Safe {
            return;
        }
        for host in 0..self.web.hosts.len() {
            if !self.holds(node, host) {
                self.nodes[node].holds.remove(&host);
            } else if self.nodes[node].holds.insert(host) {
                self.check_host(host);
            }
        }
    }

    /// In mode `safe` no two agents may fetch from a host.
    fn check_holders(&mut self) {
        for host in 0..self.web.hosts.len() {
            self.check_host(host);
        }
    }

    fn check_host(&mut self, host: usize) {
        let holders = self.holders(host);
        self.note((host, &holders));
        if self.mode == Mode::Safe && holders.len() > 1 {
            self.found.push(format!("{}: {holders:?} may fetch from host {host}", self.now));
        }
    }

    /// What is missing from the end: one owner for each host, known to all; all pages fetched.
    fn unfinished(&mut self, loses_disks: bool) -> Vec<String> {
        let mut found = Vec::new();
        let version = self.registrar.view.version();
        let living: Vec<usize> =
            (0..self.nodes.len()).filter(|at| self.nodes[*at].member.is_some()).collect();
        for at in &living {
            let member = self.nodes[*at].member.as_ref().unwrap();
            if member.view().version() != version {
                found.push(format!("agent {at} is at {:?}", member.view().version()));
            }
            if !member.skipped().is_empty() {
                found.push(format!("agent {at} skips {:?}", member.skipped()));
            }
            if member.waiting_urls() > 0 || !self.nodes[*at].engine.waiting.is_empty() {
                found.push(format!("agent {at} has URLs that wait"));
            }
        }
        for host in 0..self.web.hosts.len() {
            let holders = self.holders(host);
            if holders.len() != 1 {
                found.push(format!("at the end {holders:?} may fetch from host {host}"));
            }
        }
        let missing = self.referee.missing(&self.web);
        if !missing.is_empty() && !loses_disks {
            found.push(format!("pages that nobody fetched: {missing:?}"));
        }
        found
    }
}
