//! Whose word counts on what was fetched.
//!
//! A URL that counts as fetched is not fetched again, so a member that says so of a host silences
//! it. Only those are believed that can have had the host: its former owner, and the first *t*
//! agents of its order besides this one. Members that were away lately are not counted: another one
//! may have stood in for them. What others say was fetched counts as known, and is fetched again.

use std::collections::BTreeMap;

use model::AgentId;

use crate::detector::Liveness;
use crate::member::Member;
use crate::ownership::{PlacedHost, View};
use crate::peer::Peer;
use crate::time::Millis;

/// For this long a member counts as one that was away: hosts return one after the other.
const AWAY_MS: u64 = 86_400_000;

/// When each member was away last.
#[derive(Debug, Clone, Default)]
pub(super) struct Absences(BTreeMap<AgentId, Millis>);

impl Absences {
    fn has(&self, agent: AgentId, now: Millis) -> bool {
        self.0.get(&agent).is_some_and(|at| now.since(*at) <= AWAY_MS)
    }
}

impl Member {
    /// Notes which members are away now.
    pub(super) fn note_absences(&mut self, now: Millis) {
        let listed = self.current.roster().agents.iter().map(|entry| entry.agent);
        let is_away = |agent: &AgentId| {
            let liveness = self.detector.liveness(Peer::Agent(*agent), now);
            self.skipped.contains(agent) || liveness != Liveness::Alive
        };
        self.absences.0.extend(listed.filter(is_away).map(|agent| (agent, now)));
    }

    /// Whether `agent` can have had the host lately.
    pub(super) fn believes(&self, agent: AgentId, host: PlacedHost, now: Millis) -> bool {
        let mut views = self.views().into_iter().chain(&self.checked).chain(&self.copied_before);
        views.any(|view| self.can_have_had(agent, host, view, now))
    }

    fn can_have_had(&self, agent: AgentId, host: PlacedHost, view: &View, now: Millis) -> bool {
        let is_present = |other: &AgentId| {
            *other != self.me
                && self.detector.was_heard(Peer::Agent(*other))
                && !self.absences.has(*other, now)
        };
        let before = view.order(host).take_while(|other| *other != agent).filter(is_present);
        let most = usize::from(view.roster().recovery).max(1);
        view.has(agent) && before.take(most).count() < most
    }
}
