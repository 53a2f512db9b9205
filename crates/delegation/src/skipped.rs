//! Whom a search passed over, and why.

use std::collections::HashSet;

use model::{AgentId, Reason, SkipReason};

use crate::{Candidate, TrailProbe};

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
