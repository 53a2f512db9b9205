//! What a subnet costs where: measured where somebody measured, predicted elsewhere, and never anything else.

use std::collections::BTreeMap;

use protocol::AgentId;

use super::Cell;
use crate::predict::Belief;
use crate::{Asked, Verdict};

/// The cells of a subnet with `load` pages a day, each page one round trip. `agents` are numbered by their place in the
/// list. Who measured is listed in any case, of the others the `predicted` nearest by `belief`. Who asked in vain may not
/// crawl the subnet and is not listed. Without a belief, because there are no landmarks yet, nothing is predicted: then a
/// move elsewhere wants a probe of its own.
pub fn cells(
    belief: Option<&Belief<'_>>,
    trail: &[Asked],
    agents: &[AgentId],
    load: u64,
    predicted: usize,
) -> Vec<Cell> {
    let verdicts: BTreeMap<AgentId, Verdict> =
        trail.iter().map(|asked| (asked.agent, asked.verdict)).collect();
    let numbered = || (0_u32..).zip(agents);
    let cost = |time_ms: f64| time_ms * load as f64;
    let measured = numbered().filter_map(|(number, agent)| match verdicts.get(agent)? {
        Verdict::Measured { rtt_us } => Some(Cell::measured(number, cost(f64::from(*rtt_us) / 1000.0))),
        Verdict::Pending | Verdict::Unreachable | Verdict::Expired => None,
    });
    let unknown =
        |agent: &AgentId| matches!(verdicts.get(agent), None | Some(Verdict::Pending | Verdict::Expired));
    let mut guesses: Vec<Cell> = belief
        .into_iter()
        .flat_map(|belief| {
            let unknown = numbered().filter(|(_, agent)| unknown(agent));
            unknown
                .map(|(number, agent)| Cell::predicted(number, cost(belief.expected_ms(*agent).0.max(0.1))))
        })
        .collect();
    guesses.sort_by(|a, b| a.cost.total_cmp(&b.cost));
    guesses.truncate(predicted);
    measured.chain(guesses).collect()
}
