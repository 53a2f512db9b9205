//! Member: the state machine of one agent in a region.
//!
//! It takes messages, time and what the agent's engine reports, and answers with [`Effect`]s. The
//! agent's transport calls, in a loop:
//!
//! 1. [`Member::handle`] for each message that the filter has opened;
//! 2. [`Member::tick`] when [`Member::next_wakeup`] is reached, and after messages;
//! 3. [`Member::offer`] for each link to another host, [`Member::permit`] before each fetch, and
//!    [`Member::packed`] when a bundle is ready.
//!
//! In reading order: `views` (which roster counts), `leases` (votes and renewals), `urls` (where a
//! URL goes), `hosts` (takeover, return and page recovery).

mod hosts;
mod leases;
mod new_hosts;
mod start;
mod urls;
mod views;

use std::collections::BTreeSet;

use model::AgentId;
use protocol::key::PublicKey;

pub use start::{Identity, SavedMember};
pub use urls::{Link, LinkOutcome};

use crate::counts::Counts;
use crate::detector::{Detector, Liveness};
use crate::effect::Effect;
use crate::exchange::Exchange;
use crate::lease::{Holder, Voter};
use crate::loan::Borrower;
use crate::member::hosts::{Copies, Hosts, State};
use crate::member::new_hosts::NewHosts;
use crate::message::{Heartbeat, Message, SerialNumber, UrlPurpose};
use crate::ownership::{HostAtAddress, View};
use crate::peer::Peer;
use crate::permit::{Denial, Permit};
use crate::roster::{Mode, Version};
use crate::settings::Settings;
use crate::time::Millis;

/// One agent of a region.
#[derive(Debug, Clone)]
pub struct Member {
    me: AgentId,
    incarnation: u64,
    coordinator: PublicKey,
    settings: Settings,
    current: View,
    /// The view of the last completed check of all hosts, kept while the next check runs. Owners
    /// and next-nearest agents are compared with it.
    checked: Option<View>,
    /// The stored view for which every next-nearest agent had its copies, until the first check of
    /// all hosts is complete. That check copies only what has changed since.
    copied_before: Option<View>,
    /// Version and skipped members for which every next-nearest agent has its copies, as stored.
    copied: Option<(Version, BTreeSet<AgentId>)>,
    /// Older versions in ascending order, until the region has moved on to newer ones.
    older: Vec<View>,
    detector: Detector,
    voter: Voter,
    holder: Holder,
    exchange: Exchange,
    hosts: Hosts,
    linked_hosts: NewHosts,
    noticed_hosts: NewHosts,
    bundled_hosts: NewHosts,
    copies: Copies,
    loan: Borrower,
    /// Members that get no URLs: dead or asleep as far as this agent knows. Computed by each tick,
    /// so that one tick uses one set.
    skipped: BTreeSet<AgentId>,
    next_heartbeat: Millis,
    /// Number of the last heartbeat.
    heartbeats: u64,
    next_renewal: Millis,
    sleep: Option<Sleep>,
    counts: Counts,
}

/// An announced sleep.
#[derive(Debug, Clone, Copy)]
struct Sleep {
    until: Millis,
    /// When the last fetch has ended, so that the lease can be released.
    release_at: Millis,
    released: bool,
}

impl Member {
    /// A message arrived.
    pub fn handle(&mut self, from: Peer, message: Message, now: Millis) -> Vec<Effect> {
        let mut effects = Vec::new();
        if !self.knows(from) || from == Peer::Agent(self.me) {
            self.counts.refused += 1;
            return effects;
        }
        match (message, from) {
            (Message::Heartbeat(heartbeat), _) => self.heard(from, heartbeat, now, &mut effects),
            (Message::View(signed), _) => self.receive_view(signed, now, &mut effects),
            (Message::LeaseRequest(request), Peer::Agent(agent)) => {
                self.vote(agent, &request, now, &mut effects);
            }
            (Message::LeaseAnswer(answer), _) => self.holder.answer(from, answer, now),
            (Message::Urls(batch), Peer::Agent(agent)) => {
                self.receive_urls(agent, batch, now, &mut effects);
            }
            (Message::UrlsTaken(number), Peer::Agent(agent)) => {
                let mut taken = self.exchange.taken(agent, number);
                taken.retain(|url| url.purpose == UrlPurpose::Fetch);
                if !taken.is_empty() {
                    effects.push(Effect::Forget(taken));
                }
            }
            (Message::BundleRequest(hosts), Peer::Agent(agent)) => {
                self.bundle_requested(agent, hosts, &mut effects);
            }
            (Message::Bundle(bundle), Peer::Agent(agent)) => {
                self.receive_bundle(agent, bundle, now, &mut effects);
            }
            (Message::BundleTaken(number), Peer::Agent(agent)) => {
                self.bundle_taken(agent, number, &mut effects);
            }
            (Message::NoBundle(hosts), Peer::Agent(agent)) => self.no_bundle(agent, &hosts),
            (_, Peer::Coordinator) | (Message::Collect, _) => self.counts.refused += 1,
        }
        effects
    }

    /// Does everything that is due.
    pub fn tick(&mut self, now: Millis) -> Vec<Effect> {
        let mut effects = Vec::new();
        self.forget_views(now);
        self.send_heartbeats(now, &mut effects);
        self.renew(now, &mut effects);
        self.release_if_drained(now, &mut effects);
        if self.refresh_skipped(now) {
            self.hosts.check_all();
            self.redirect(now, &mut effects);
        }
        self.check_hosts(now, &mut effects);
        for (to, batch) in self.exchange.due(now) {
            effects.push(Effect::Send(Peer::Agent(to), Message::Urls(batch)));
        }
        effects
    }

    /// When [`Member::tick`] has something to do at the latest.
    pub fn next_wakeup(&self) -> Millis {
        let release = self.sleep.filter(|sleep| !sleep.released).map(|sleep| sleep.release_at);
        let copies = self.copies.next_wakeup(&self.settings);
        let times = [self.exchange.next_wakeup(), self.hosts.next_wakeup(), copies, release];
        let regular = self.next_heartbeat.min(self.next_renewal);
        times.into_iter().flatten().fold(regular, Ord::min)
    }

    /// Whether a fetch of a host may start now. The first question about a host that came to this
    /// agent starts the recovery of its pages.
    pub fn permit(&mut self, host: HostAtAddress, now: Millis) -> Permit {
        let end = now.plus(self.settings.fetch_ms);
        if self.sleep.is_some() {
            return Permit::Denied(Denial::Asleep);
        }
        if !self.current.has(self.me) || !self.current.contains(host.address) {
            return Permit::Denied(Denial::NotOfRegion);
        }
        if self.loan.until() < end {
            return Permit::Denied(Denial::NoLoan);
        }
        if self.destination(host) != Some(self.me) {
            return Permit::Denied(Denial::NotOwner);
        }
        if self.current.roster().mode == Mode::Safe && self.lease_of(host, now) < Some(end) {
            return Permit::Denied(Denial::NoLease);
        }
        match self.hosts.state(host.position) {
            None | Some(State::Standby) => Permit::Denied(Denial::Unknown),
            Some(State::Held) => Permit::Until(end),
            Some(State::New | State::Asking { .. } | State::Leaving { .. }) => {
                self.hosts.want(host.position);
                Permit::Denied(Denial::Recovering)
            }
        }
    }

    /// The agent stops until `for_ms` have passed or [`Member::wake`]. It fetches nothing more,
    /// gives its hosts to others, and goes on to vote while its process runs.
    pub fn sleep(&mut self, for_ms: u64, now: Millis) {
        let until = now.plus(for_ms);
        let release_at = now.plus(self.settings.drain_ms());
        // One that sleeps already may sleep for longer, for another reason.
        let begun = self.sleep.map(|sleep| Sleep { until, ..sleep });
        self.sleep = Some(begun.unwrap_or(Sleep { until, release_at, released: false }));
        self.next_heartbeat = now;
    }

    /// The agent works again.
    pub fn wake(&mut self, now: Millis) {
        self.sleep = None;
        self.next_heartbeat = now;
        self.next_renewal = now;
    }

    /// The coordinator lent the hosts of the region in answer to a request sent at `asked`.
    pub fn lent(&mut self, term_ms: u64, asked: Millis) {
        self.loan.lent(term_ms, asked);
    }

    /// When the coordinator's loan ends.
    pub fn loan_until(&self) -> Millis {
        self.loan.until()
    }

    /// State of a party as this agent sees it.
    pub fn liveness(&self, peer: Peer, now: Millis) -> Liveness {
        self.detector.liveness(peer, now)
    }

    /// Whether a majority of voters lets this agent fetch what it owns.
    pub fn has_lease(&self, now: Millis) -> bool {
        match self.current.roster().mode {
            Mode::Safe => self.holder.oldest_version(&self.current, now).is_some(),
            Mode::Available => true,
        }
    }

    /// Members that this agent takes for dead or asleep.
    pub fn skipped(&self) -> &BTreeSet<AgentId> {
        &self.skipped
    }

    /// Members whose hosts others fetch because they are dead as far as this agent knows.
    pub fn replaced(&self, now: Millis) -> impl Iterator<Item = AgentId> + '_ {
        let is_awake =
            move |agent: &AgentId| self.liveness(Peer::Agent(*agent), now) != Liveness::Asleep;
        self.skipped.iter().copied().filter(move |agent| *agent != self.me && is_awake(agent))
    }

    /// Number of this membership, larger than those of all before.
    pub fn incarnation(&self) -> u64 {
        self.incarnation
    }

    /// The newest roster and delegations that count.
    pub fn view(&self) -> &View {
        &self.current
    }

    /// Totals since the start.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// Whether a party is a member, or will be one.
    fn knows(&self, peer: Peer) -> bool {
        self.views().iter().any(|view| view.voters().contains(&peer))
    }

    fn heard(&mut self, from: Peer, heartbeat: Heartbeat, now: Millis, effects: &mut Vec<Effect>) {
        if !self.detector.heard(from, &heartbeat, now) {
            return;
        }
        if heartbeat.version < self.current.version() {
            let signed = self.current.signed().clone();
            effects.push(Effect::Send(from, Message::View(signed)));
        }
    }

    fn send_heartbeats(&mut self, now: Millis, effects: &mut Vec<Effect>) {
        if now < self.next_heartbeat {
            return;
        }
        self.next_heartbeat = now.plus(self.settings.heartbeat_ms);
        self.heartbeats += 1;
        let heartbeat = Heartbeat {
            number: SerialNumber { incarnation: self.incarnation, count: self.heartbeats },
            version: self.current.version(),
            floor: self.voter.floor(),
            sleep_ms: self.sleep.map(|sleep| sleep.until.since(now)),
        };
        for peer in self.current.voters() {
            if *peer != Peer::Agent(self.me) {
                effects.push(Effect::Send(*peer, Message::Heartbeat(heartbeat)));
            }
        }
    }

    /// Computes the members that get no URLs; returns whether they changed.
    ///
    /// In mode `available` this agent's own view counts. In mode `safe` an agent that does not
    /// answer keeps its hosts until a majority of voters takes it for dead: until then no other
    /// agent may fetch them.
    fn refresh_skipped(&mut self, now: Millis) -> bool {
        let mut skipped = match self.current.roster().mode {
            Mode::Safe => self.holder.out(&self.current, now),
            Mode::Available => BTreeSet::new(),
        };
        for entry in &self.current.roster().agents {
            let liveness = self.detector.liveness(Peer::Agent(entry.agent), now);
            let is_skipped = match self.current.roster().mode {
                Mode::Safe => liveness == Liveness::Asleep,
                Mode::Available => liveness != Liveness::Alive,
            };
            if is_skipped && entry.agent != self.me {
                skipped.insert(entry.agent);
            }
        }
        if self.sleep.is_some() {
            skipped.insert(self.me);
        }
        let changed = skipped != self.skipped;
        self.skipped = skipped;
        changed
    }
}
