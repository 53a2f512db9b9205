//! Whom a search passed over, and why.

use std::collections::HashSet;

use protocol::AgentId;

use crate::{Candidate, Reason, TrailProbe};

/// Why an agent was not asked though its turn had come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SkipReason {
    /// It was outside its hours.
    Asleep,
    /// It had not been heard of when it should have been.
    Unreachable,
    /// It had as many probes to do as it may have.
    Busy,
    /// An admin excluded it.
    Excluded,
    /// Its probes of the day, or those of the subnet, were used up.
    Budget,
}

impl SkipReason {
    /// All, in the order in which they are told.
    pub const ALL: [Self; 5] =
        [Self::Asleep, Self::Unreachable, Self::Busy, Self::Excluded, Self::Budget];

    /// The word in JSON, tables and pages.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Asleep => "asleep",
            Self::Unreachable => "unreachable",
            Self::Busy => "busy",
            Self::Excluded => "excluded",
            Self::Budget => "budget",
        }
    }

    /// The one of this word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|skip| skip.as_str() == word)
    }
}

/// Everybody in `order` who was not asked though their turn had come, with what `why` says; each
/// once.
///
/// A search that stopped at the agent it chose passed over those who came before it. One that asked
/// until nobody was left passed over everybody it did not ask. A predictive search goes by who is
/// likely to be nearer, and a sleeper that is not is not missed: it passed over only those it was
/// not allowed to think of.
pub fn skipped(
    order: impl Iterator<Item = Candidate>,
    trail: &[TrailProbe],
    (reason, chosen): (Reason, AgentId),
    why: impl Fn(AgentId) -> Option<SkipReason>,
) -> Vec<(AgentId, SkipReason)> {
    let stopped = matches!(reason, Reason::Company | Reason::Threshold);
    let mut seen: HashSet<AgentId> = trail.iter().map(|asked| asked.agent).collect();
    order
        .map(|candidate| candidate.agent)
        .take_while(|agent| !(stopped && *agent == chosen))
        .filter(|agent| seen.insert(*agent))
        .filter_map(|agent| Some((agent, why(agent)?)))
        .filter(|(_, skip)| reason != Reason::Predicted || *skip == SkipReason::Excluded)
        .collect()
}
