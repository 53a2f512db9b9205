//! Judgement of what an agent reported of landmarks.

use model::AgentId;

use super::{Judgement, ReferenceTimes, WitnessTime};

/// Other agents that judge a report: as many as an installation of average size has. More would
/// cost time and tell the same.
const WITNESSES: usize = 16;

/// Judges the reports of `agent` on those of the landmarks that `is_new` selects, by their number
/// in the reference times. Landmarks without a judgement are left out.
pub fn judge_landmarks(
    references: &ReferenceTimes,
    agent: AgentId,
    is_new: impl Fn(usize) -> bool,
) -> Vec<(usize, Judgement)> {
    let Ok(row) = references.agents().binary_search(&agent) else { return Vec::new() };
    let known = |row: usize| {
        let witness = references.agents()[row];
        (witness, references.times(row), references.relation(agent, witness))
    };
    let witnesses: Vec<_> =
        witness_rows(references.agents().len(), row).into_iter().map(known).collect();
    let mut judged = Vec::new();
    for (landmark, reported) in references.times(row).iter().enumerate() {
        let Some(reported_ms) = reported.filter(|_| is_new(landmark)) else { continue };
        let times = witnesses.iter().filter_map(|(agent, times, relation)| {
            Some((WitnessTime { agent: *agent, ms: times[landmark]? }, *relation))
        });
        let times: Vec<_> = times.collect();
        // Others may still measure it; it is judged when most of them have.
        if 2 * times.len() < witnesses.len() {
            continue;
        }
        let judgement = Judgement::of(reported_ms, times.into_iter(), Some(landmark));
        judged.extend(judgement.map(|judgement| (landmark, judgement)));
    }
    judged
}

/// Rows of other agents, evenly spread over all.
fn witness_rows(agents: usize, row: usize) -> Vec<usize> {
    let others = agents.saturating_sub(1);
    let step = others.div_ceil(WITNESSES).max(1);
    (1..=others).step_by(step).map(|ahead| (row + ahead) % agents).collect()
}
