//! Agents that a search skipped, and why.

use std::collections::HashSet;

use model::{AgentId, Reason, SkipReason};

use crate::{Candidate, TrailProbe};

/// The agents in `order` that were not asked though their turn had come, each once, with the reason
/// that `why` gives.
///
/// A search that stopped at the agent it chose skipped agents before that one. A search that asked
/// until no agent was left skipped all that it did not ask. A predictive search asks by probability
/// instead of order, so agents outside their span are skipped without being reported: it skipped
/// only those that it did not consider at all.
pub fn skipped(
    order: impl Iterator<Item = Candidate>,
    trail: &[TrailProbe],
    (reason, chosen): (Reason, AgentId),
    why: impl Fn(AgentId) -> Option<SkipReason>,
) -> Vec<(AgentId, SkipReason)> {
    let stopped = matches!(reason, Reason::Company | Reason::Threshold);
    let mut seen: HashSet<AgentId> = trail.iter().map(|probe| probe.agent).collect();
    let mut skipped = Vec::new();
    for Candidate { agent, .. } in order {
        if stopped && agent == chosen {
            break;
        }
        if !seen.insert(agent) {
            continue;
        }
        let Some(why) = why(agent) else { continue };
        if reason != Reason::Predicted || is_left_out(why) {
            skipped.push((agent, why));
        }
    }
    skipped
}

/// Whether a search does not consider the agent, however near it is.
const fn is_left_out(why: SkipReason) -> bool {
    matches!(why, SkipReason::Excluded | SkipReason::Drained | SkipReason::Absent)
}
