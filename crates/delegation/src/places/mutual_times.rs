//! Mutual times: round trips between the homes of agents.

use std::collections::BTreeMap;

use model::AgentId;

/// Round trips between agents, in milliseconds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MutualTimes {
    /// By pair, the lower id first; no time for a pair that got no answer.
    times: BTreeMap<(AgentId, AgentId), Option<f32>>,
}

impl MutualTimes {
    /// Adds what one of two agents measured of the other; `None` without an answer. A shorter round
    /// trip replaces a longer one.
    pub fn insert(&mut self, a: AgentId, b: AgentId, rtt_ms: Option<f32>) {
        let known = self.times.entry((a.min(b), a.max(b))).or_insert(None);
        *known = match (*known, rtt_ms) {
            (Some(before), Some(now)) => Some(before.min(now)),
            (before, now) => now.or(before),
        };
    }

    /// Number of pairs.
    pub fn len(&self) -> usize {
        self.times.len()
    }

    /// Whether nothing was measured.
    pub fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    /// Those of the pairs that were not measured, the lower id first, in order and each once.
    pub(super) fn unmeasured(
        &self,
        pairs: impl IntoIterator<Item = (AgentId, AgentId)>,
    ) -> Vec<(AgentId, AgentId)> {
        let ordered = pairs.into_iter().map(|(a, b)| (a.min(b), a.max(b)));
        let mut missing: Vec<_> = ordered.filter(|(a, b)| !self.has(*a, *b)).collect();
        missing.sort_unstable();
        missing.dedup();
        missing
    }

    /// Whether the pair was measured, with or without an answer.
    pub(super) fn has(&self, a: AgentId, b: AgentId) -> bool {
        self.times.contains_key(&(a.min(b), a.max(b)))
    }

    /// Round trip of a pair.
    pub(super) fn ms(&self, a: AgentId, b: AgentId) -> Option<f32> {
        self.times.get(&(a.min(b), a.max(b))).copied().flatten()
    }

    /// Every measured pair with an answer.
    pub(super) fn pairs(&self) -> impl Iterator<Item = ((AgentId, AgentId), f32)> + '_ {
        self.times.iter().filter_map(|(pair, ms)| Some((*pair, (*ms)?)))
    }
}
