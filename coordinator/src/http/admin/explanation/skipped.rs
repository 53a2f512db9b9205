//! Agents that a search skipped.

use model::{AgentId, SkipReason};
use store::agents;
use store::searches::{self, SearchTrail};

use crate::http::admin::dto::agents::AgentRef;
use crate::http::admin::dto::explanation::SkippedAgent;
use crate::http::problem::Problem;
use crate::http::state::ApiState;

/// The agents that a search skipped, with their names.
pub(super) async fn skipped(
    state: &ApiState,
    search: &SearchTrail,
) -> Result<Vec<SkippedAgent>, Problem> {
    let store = &state.core.store;
    let found = searches::skipped(store, search.id).await?;
    let agents: Vec<AgentId> = found.iter().map(|skipped| skipped.agent).collect();
    let names = agents::names(store, &agents).await?;
    let agents = found.iter().filter_map(|skipped| {
        let name = names.get(&skipped.agent)?.clone();
        Some(SkippedAgent { agent: AgentRef { id: skipped.agent, name }, reason: skipped.why })
    });
    Ok(agents.collect())
}

/// The skipped agents as a sentence with a leading space; empty when there are none.
pub(super) fn sentence(skipped: &[SkippedAgent]) -> String {
    match skipped {
        [] => String::new(),
        [one] => {
            format!(" The search skipped {} because it {}.", one.agent.name, cause(one.reason, 1))
        }
        several => {
            let mut reasons: Vec<SkipReason> =
                several.iter().map(|skipped| skipped.reason).collect();
            reasons.sort_unstable();
            let groups: Vec<String> = reasons
                .chunk_by(|a, b| a == b)
                .map(|group| format!("{} {}", group.len(), cause(group[0], group.len())))
                .collect();
            format!(" The search skipped {} agents: {}.", several.len(), groups.join(", "))
        }
    }
}

const fn cause(reason: SkipReason, count: usize) -> &'static str {
    match (reason, count) {
        (SkipReason::Asleep, 1) => "was asleep",
        (SkipReason::Asleep, _) => "were asleep",
        (SkipReason::Unreachable, _) => "had sent no recent heartbeat",
        (SkipReason::Absent, _) => "had not been heard of for more than a day",
        (SkipReason::Idle, _) => "carried out no probes then",
        (SkipReason::Busy, _) => "had too many unanswered probes",
        (SkipReason::Excluded, 1) => "was excluded by an admin",
        (SkipReason::Excluded, _) => "were excluded by an admin",
        (SkipReason::Budget, _) => "had no probes left for the day",
        (SkipReason::Drained, 1) => "was being drained",
        (SkipReason::Drained, _) => "were being drained",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skipped_agents_become_one_sentence() {
        let skipped = |reason| SkippedAgent {
            agent: AgentRef { id: AgentId::new(1), name: "cape".into() },
            reason,
        };
        assert_eq!(sentence(&[]), "");
        insta::assert_snapshot!(
            sentence(&[skipped(SkipReason::Asleep)]),
            @" The search skipped cape because it was asleep."
        );
        let several = [SkipReason::Excluded, SkipReason::Asleep, SkipReason::Asleep].map(skipped);
        insta::assert_snapshot!(
            sentence(&several),
            @" The search skipped 3 agents: 2 were asleep, 1 was excluded by an admin."
        );
    }
}
