//! What a search did besides asking: counters, and whom it passed over.

use model::{AgentId, ProbeState, SkipReason};
use store::lists::{self, Search};
use store::searches;

use crate::http::admin::dto::{AgentRef, Counters, SkippedAgent, SkippedCounts};
use crate::http::problem::Problem;
use crate::http::state::ApiState;

/// Whom a search passed over.
pub(super) async fn skipped(
    state: &ApiState,
    search: &Search,
) -> Result<Vec<SkippedAgent>, Problem> {
    let store = &state.core.store;
    let found = searches::skipped(store, search.id).await?;
    let agents: Vec<AgentId> = found.iter().map(|skipped| skipped.agent).collect();
    let names = lists::names(store, &agents).await?;
    let shown = found.iter().filter_map(|skipped| {
        let name = names.get(&skipped.agent)?.clone();
        Some(SkippedAgent { agent: AgentRef { id: skipped.agent, name }, why: skipped.why })
    });
    Ok(shown.collect())
}

/// A search in numbers.
pub(super) fn counters(search: Option<&Search>, skipped: &[SkippedAgent]) -> Counters {
    let in_state = |state: ProbeState| {
        let probes = search.map(|search| search.probes.as_slice()).unwrap_or_default();
        probes.iter().filter(|probe| probe.state == state).count() as u64
    };
    let passed =
        |why: SkipReason| skipped.iter().filter(|skipped| skipped.why == why).count() as u64;
    Counters {
        asked: search.map_or(0, |search| search.probes.len() as u64),
        measured: in_state(ProbeState::Measured),
        unreachable: in_state(ProbeState::Unreachable),
        refused: in_state(ProbeState::Refused),
        expired: in_state(ProbeState::Expired),
        pending: in_state(ProbeState::Asked),
        skipped: SkippedCounts {
            asleep: passed(SkipReason::Asleep),
            unreachable: passed(SkipReason::Unreachable),
            busy: passed(SkipReason::Busy),
            excluded: passed(SkipReason::Excluded),
            budget: passed(SkipReason::Budget),
        },
    }
}

/// Whom the search passed over, as a sentence with a space before it; empty when it was nobody.
pub(super) fn told(skipped: &[SkippedAgent]) -> String {
    match skipped {
        [] => String::new(),
        [one] => format!(" {} was left out, since {}.", one.agent.name, of_one(one.why)),
        several => {
            let mut kinds: Vec<SkipReason> = several.iter().map(|skipped| skipped.why).collect();
            kinds.sort_unstable();
            let groups: Vec<String> = kinds
                .chunk_by(|a, b| a == b)
                .map(|group| format!("{} {}", group.len(), of_several(group[0], group.len())))
                .collect();
            format!(" {} agents were left out: {}.", several.len(), groups.join(", "))
        }
    }
}

const fn of_one(why: SkipReason) -> &'static str {
    match why {
        SkipReason::Asleep => "it was asleep",
        SkipReason::Unreachable => "it had not been heard of",
        SkipReason::Busy => "it had as many probes to do as it may have",
        SkipReason::Excluded => "an admin excluded it",
        SkipReason::Budget => "its probes of the day were used up",
    }
}

const fn of_several(why: SkipReason, count: usize) -> &'static str {
    match (why, count) {
        (SkipReason::Asleep, 1) => "was asleep",
        (SkipReason::Asleep, _) => "were asleep",
        (SkipReason::Unreachable, _) => "had not been heard of",
        (SkipReason::Busy, _) => "had as many probes to do as they may have",
        (SkipReason::Excluded, 1) => "was excluded by an admin",
        (SkipReason::Excluded, _) => "were excluded by an admin",
        (SkipReason::Budget, _) => "had used up the probes of the day",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_was_left_out_is_told_in_passing() {
        let skipped = |why| SkippedAgent {
            agent: AgentRef { id: AgentId::new(1), name: "cape".into() },
            why,
        };
        assert_eq!(told(&[]), "");
        insta::assert_snapshot!(told(&[skipped(SkipReason::Asleep)]), @" cape was left out, since it was asleep.");
        let several = [SkipReason::Excluded, SkipReason::Asleep, SkipReason::Asleep].map(skipped);
        insta::assert_snapshot!(told(&several), @" 3 agents were left out: 2 were asleep, 1 was excluded by an admin.");
    }
}
