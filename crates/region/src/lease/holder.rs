//! Holder: asks all voters for a lease and knows which hosts a majority allows.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use model::AgentId;

use crate::message::{Claim, LeaseAnswer, LeaseRequest, SerialNumber, Versions};
use crate::ownership::{HostAtAddress, View};
use crate::peer::Peer;
use crate::roster::Version;
use crate::settings::Settings;
use crate::time::Millis;

/// The last grant of a voter.
#[derive(Debug, Clone)]
struct LastGrant {
    number: SerialNumber,
    claim: Claim,
    until: Millis,
}

/// What the holder knows of one voter.
#[derive(Debug, Clone, Default)]
struct Ballot {
    held: Option<LastGrant>,
    /// Grants in the order of their arrival, each with the moment from which no fetch relies on
    /// the grants before it.
    arrived: VecDeque<(SerialNumber, Millis)>,
    /// No fetch relies on grants before the one with this number.
    since: SerialNumber,
}

/// The lease of one agent.
#[derive(Debug, Clone)]
pub struct Holder {
    me: AgentId,
    settings: Settings,
    next: SerialNumber,
    /// When requests were sent that may still be answered, by number.
    sent: BTreeMap<SerialNumber, Millis>,
    ballots: BTreeMap<Peer, Ballot>,
}

impl Holder {
    /// The holder of a process that starts now, without a lease.
    pub fn new(me: AgentId, settings: Settings, incarnation: u64) -> Self {
        let next = SerialNumber { incarnation, count: 1 };
        Self { me, settings, next, sent: BTreeMap::new(), ballots: BTreeMap::new() }
    }

    /// Requests to all voters, for a renewal of the lease or its release.
    pub fn ask(
        &mut self,
        view: &View,
        versions: &Versions,
        release: bool,
        now: Millis,
    ) -> Vec<(Peer, LeaseRequest)> {
        let number = self.next;
        self.next.count += 1;
        self.sent.retain(|_, at| now.since(*at) < self.settings.term_ms);
        self.sent.insert(number, now);
        if release {
            // Answers that are on their way must not count any more.
            self.sent.clear();
            self.ballots.clear();
        }
        self.ballots.retain(|voter, _| view.voters().contains(voter));
        let mut requests = Vec::new();
        for voter in view.voters() {
            let ballot = self.ballots.entry(*voter).or_default();
            let since = if release { number } else { ballot.since(now) };
            let versions = versions.clone();
            requests.push((*voter, LeaseRequest { number, since, versions, release }));
        }
        requests
    }

    /// Takes a voter's answer. Late and repeated answers change nothing.
    pub fn answer(&mut self, voter: Peer, answer: LeaseAnswer, now: Millis) {
        let Some(sent) = self.sent.get(&answer.number).copied() else { return };
        let ballot = self.ballots.entry(voter).or_default();
        if ballot.held.as_ref().is_some_and(|held| answer.number <= held.number) {
            return;
        }
        let Ok((claim, term)) = answer.outcome else { return };
        // The term counts from the request: the voter received it later. A voter cannot grant more
        // than the region's term.
        let term = self.settings.drift.at_most(term.min(self.settings.term_ms));
        // Fetches that began under the grants before this one have ended then.
        let settled = now.plus(self.settings.drain_ms());
        ballot.arrived.push_back((answer.number, settled));
        ballot.held = Some(LastGrant { number: answer.number, claim, until: sent.plus(term) });
    }

    /// The moment until which a majority of voters allows the host; none if there is none.
    pub fn allowed_until(
        &self,
        host: HostAtAddress,
        views: &[&View],
        now: Millis,
    ) -> Option<Millis> {
        let current = views.first()?;
        let allowing = self.unexpired(current, now);
        let ends = allowing.filter(|held| self.allows(held, host, views)).map(|held| held.until);
        majority(ends.collect(), current.voters().len())
    }

    /// Agents that a majority of voters takes for dead.
    pub fn out(&self, view: &View, now: Millis) -> BTreeSet<AgentId> {
        let mut votes: BTreeMap<AgentId, usize> = BTreeMap::new();
        for held in self.unexpired(view, now) {
            for agent in &held.claim.out {
                *votes.entry(*agent).or_default() += 1;
            }
        }
        let all = view.voters().len();
        votes.into_iter().filter(|(_, count)| 2 * count > all).map(|(agent, _)| agent).collect()
    }

    /// The newest version such that a majority of voters has granted no older one: this agent does
    /// not rely on older ones any more.
    pub fn oldest_version(&self, view: &View, now: Millis) -> Option<Version> {
        let oldest = self.unexpired(view, now).map(|held| held.claim.versions.oldest()).collect();
        majority(oldest, view.voters().len())
    }

    fn unexpired<'h>(&'h self, view: &'h View, now: Millis) -> impl Iterator<Item = &'h LastGrant> {
        let ballots = self.ballots.iter().filter(|(voter, _)| view.voters().contains(voter));
        ballots.filter_map(|(_, ballot)| ballot.held.as_ref()).filter(move |held| held.until > now)
    }

    /// Whether one grant allows a host: under each of its versions, all agents before this one are
    /// out.
    fn allows(&self, held: &LastGrant, host: HostAtAddress, views: &[&View]) -> bool {
        held.claim.versions.iter().all(|version| {
            let view = views.iter().find(|view| view.version() == version);
            view.is_some_and(|view| {
                view.owner(host, |agent| !held.claim.out.contains(agent)) == Some(self.me)
            })
        })
    }
}

impl Ballot {
    /// The newest grant from which all fetches under older grants have ended.
    fn since(&mut self, now: Millis) -> SerialNumber {
        while let Some((number, settled)) = self.arrived.front().copied() {
            if settled > now {
                break;
            }
            self.since = number;
            self.arrived.pop_front();
        }
        self.since
    }
}

/// The largest value that more than half of `voters` reach; none if too few have voted.
fn majority<T: Ord + Copy>(mut values: Vec<T>, voters: usize) -> Option<T> {
    values.sort_unstable_by(|one, other| other.cmp(one));
    values.get(voters / 2).copied()
}
