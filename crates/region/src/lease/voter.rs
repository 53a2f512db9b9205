//! Voter: grants claims that do not contradict each other, and keeps its promises over a crash.

use std::collections::{BTreeMap, BTreeSet};

use model::AgentId;
use serde::{Deserialize, Serialize};

use crate::message::{Claim, LeaseAnswer, LeaseRefusal, LeaseRequest, SerialNumber, Versions};
use crate::ownership::View;
use crate::roster::Version;
use crate::settings::Settings;
use crate::time::Millis;

/// A claim that the voter granted, as stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Promise {
    /// The agent that got the grant.
    pub agent: AgentId,
    pub number: SerialNumber,
    /// What was granted.
    pub claim: Claim,
}

/// What a voter must find again after a crash. Ends of grants are not stored: after a restart each
/// promise counts as if it had been made at that moment, so that a renewal writes nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Promises {
    /// Grants that may not have ended.
    pub made: Vec<Promise>,
    /// Oldest version under which this voter grants leases.
    pub floor: Version,
}

/// A grant in memory.
#[derive(Debug, Clone)]
struct Grant {
    number: SerialNumber,
    claim: Claim,
    until: Millis,
}

/// Last request of an agent.
#[derive(Debug, Clone, Copy)]
struct LastRequest {
    number: SerialNumber,
    at: Millis,
    released: bool,
}

/// One vote on the leases of a region.
#[derive(Debug, Clone)]
pub struct Voter {
    settings: Settings,
    grants: BTreeMap<AgentId, Vec<Grant>>,
    asked: BTreeMap<AgentId, LastRequest>,
    floor: Version,
    started: Millis,
    /// Until then nothing is granted, because promises may be forgotten.
    silent_until: Millis,
    /// Whether promises were made since they were stored.
    unsaved: bool,
}

impl Voter {
    /// A voter that starts now, with the promises that it stored last; with none if they are lost.
    /// One that never voted in this region has made no promises.
    pub fn new(settings: Settings, promises: Option<Promises>, now: Millis) -> Self {
        // Any promise that was made before has ended by then.
        let until = now.plus(settings.promise_ms());
        let silent_until = if promises.is_some() { now } else { until };
        let Promises { made, floor } = promises.unwrap_or_default();
        let mut grants: BTreeMap<AgentId, Vec<Grant>> = BTreeMap::new();
        for Promise { agent, number, claim } in made {
            grants.entry(agent).or_default().push(Grant { number, claim, until });
        }
        let asked = BTreeMap::new();
        Self { settings, grants, asked, floor, started: now, silent_until, unsaved: false }
    }

    /// Promises to be stored, if any were made since [`Self::note_saved`]. They must be on disk
    /// before an answer is sent.
    pub fn unsaved(&self) -> Option<Promises> {
        self.unsaved.then(|| self.promises())
    }

    /// The promises are on disk. Without this they are to be stored with the next request: the same
    /// claim would count as a renewal of one that was never stored.
    pub fn note_saved(&mut self) {
        self.unsaved = false;
    }

    /// All promises that may not have ended.
    pub fn promises(&self) -> Promises {
        let mut made = Vec::new();
        for (agent, grants) in &self.grants {
            made.extend(grants.iter().map(|grant| Promise {
                agent: *agent,
                number: grant.number,
                claim: grant.claim.clone(),
            }));
        }
        Promises { made, floor: self.floor }
    }

    /// Oldest version under which this voter grants leases.
    pub fn floor(&self) -> Version {
        self.floor
    }

    /// The answer to a request; none for an old or repeated request, after a release, and while the
    /// voter is silent.
    pub fn handle(
        &mut self,
        agent: AgentId,
        request: &LeaseRequest,
        view: &View,
        now: Millis,
    ) -> Option<LeaseAnswer> {
        if !request.versions.is_valid() {
            return None;
        }
        let number = request.number;
        // A delayed request must not bring back what a later one gave up.
        if self.asked.get(&agent).is_some_and(|asked| number <= asked.number) {
            return None;
        }
        self.asked.insert(agent, LastRequest { number, at: now, released: request.release });
        self.end_grants(now);
        self.give_up(agent, request, now);
        if request.release || now < self.silent_until {
            return None;
        }
        let outcome = self.decide(agent, &request.versions, view, now);
        if let Ok(claim) = &outcome {
            self.promise(agent, number, claim.clone(), now);
        }
        let term = self.settings.term_ms;
        Some(LeaseAnswer { number, outcome: outcome.map(|claim| (claim, term)) })
    }

    fn end_grants(&mut self, now: Millis) {
        for grants in self.grants.values_mut() {
            grants.retain(|grant| grant.until > now);
        }
        self.grants.retain(|_, grants| !grants.is_empty());
    }

    /// Forgets grants on which the agent does not rely any more, by [`LeaseRequest::since`].
    fn give_up(&mut self, agent: AgentId, request: &LeaseRequest, now: Millis) {
        let Some(grants) = self.grants.get_mut(&agent) else { return };
        // Numbers of restored grants may be older than those of their renewals, which were not
        // stored. A delayed request must not end them, so they end by time.
        let restored = self.started.plus(self.settings.promise_ms());
        if now < restored {
            return;
        }
        let end = if request.release { request.number } else { request.since };
        grants.retain(|grant| grant.number >= end);
        if grants.is_empty() {
            self.grants.remove(&agent);
        }
    }

    fn decide(
        &self,
        agent: AgentId,
        versions: &Versions,
        view: &View,
        now: Millis,
    ) -> Result<Claim, LeaseRefusal> {
        if !view.has(agent) {
            return Err(LeaseRefusal::NotListed);
        }
        if versions.newest() < self.floor {
            return Err(LeaseRefusal::OldVersion);
        }
        let others = || self.grants.iter().filter(|(other, _)| **other != agent);
        let claims = || others().flat_map(|(_, grants)| grants).map(|grant| &grant.claim);
        if claims().any(|claim| claim.out.contains(&agent)) {
            return Err(LeaseRefusal::TakenOver);
        }
        let fits = |versions: &Versions| claims().all(|claim| claim.versions.share_one(versions));
        // Versions that this voter does not know are left out, because they may not exist. The
        // promise of one would raise the floor above all real versions, under which no lease could
        // be granted again.
        let known = versions.iter().filter(|version| *version <= view.version());
        let versions = Versions::new(known).ok_or(LeaseRefusal::NewVersion)?;
        // The newest version alone moves the region on; older ones beside it keep the agent
        // compatible with those that know only these.
        let versions = versions.newest_first().find(fits).ok_or(LeaseRefusal::NewVersion)?;
        Ok(Claim { versions, out: self.out(agent, view, now) })
    }

    /// Agents that hold no grant and have not asked for one for a while.
    fn out(&self, holder: AgentId, view: &View, now: Millis) -> BTreeSet<AgentId> {
        let agents = view.roster().agents.iter().map(|entry| entry.agent);
        agents
            .filter(|agent| *agent != holder)
            .filter(|agent| !self.grants.contains_key(agent) && self.is_silent(*agent, now))
            .collect()
    }

    fn is_silent(&self, agent: AgentId, now: Millis) -> bool {
        match self.asked.get(&agent) {
            Some(asked) => asked.released || now.since(asked.at) > self.settings.suspect_ms,
            None => now.since(self.started) > self.settings.suspect_ms,
        }
    }

    fn promise(&mut self, agent: AgentId, number: SerialNumber, claim: Claim, now: Millis) {
        let until = now.plus(self.settings.promise_ms());
        let oldest = claim.versions.oldest();
        if oldest > self.floor {
            self.floor = oldest;
            self.unsaved = true;
        }
        let grants = self.grants.entry(agent).or_default();
        // The renewal of a stored claim needs no write: after a restart the stored one counts for a
        // whole term.
        if let Some(same) = grants.iter_mut().find(|grant| grant.claim == claim) {
            same.number = number;
            same.until = until;
        } else {
            grants.push(Grant { number, claim, until });
            self.unsaved = true;
        }
    }
}
