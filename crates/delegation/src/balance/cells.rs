//! What a subnet costs where: measured where somebody measured, predicted elsewhere, and never
//! anything else.

use std::collections::BTreeMap;

use protocol::AgentId;

use super::Cell;
use crate::predict::Belief;
use crate::{Asked, Verdict};

/// What is expected of agents that did not measure a subnet.
#[derive(Clone, Copy)]
pub enum Outlook<'b> {
    /// Nothing, because there are no landmarks yet: then a move elsewhere wants a probe of its own.
    Unknown,
    /// Round trips as places have them.
    Believed(&'b Belief<'b>),
    /// The subnet is near to many (anycast): as near to everybody as to those who measured it, so
    /// that balance may put it where there is room.
    Everywhere,
}

/// The cells of a subnet with `load` pages a day, each page one round trip. `agents` are numbered
/// by their place in the list. Who measured is listed in any case, of the others the `predicted`
/// nearest, or all where the subnet is near to all. Who asked in vain may not crawl the subnet and
/// is not listed.
pub fn cells(
    outlook: Outlook<'_>,
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
        Verdict::Measured { rtt_us } => {
            Some(Cell::measured(number, cost(f64::from(*rtt_us) / 1000.0)))
        }
        Verdict::Pending | Verdict::Unreachable | Verdict::Expired => None,
    });
    let measured: Vec<Cell> = measured.collect();
    let unknown = |agent: &AgentId| {
        matches!(verdicts.get(agent), None | Some(Verdict::Pending | Verdict::Expired))
    };
    let unknown = numbered().filter(|(_, agent)| unknown(agent));
    let guesses: Vec<Cell> = match outlook {
        Outlook::Unknown => Vec::new(),
        Outlook::Believed(belief) => {
            let expected = |agent: &AgentId| cost(belief.expected_ms(*agent).0.max(0.1));
            let mut guesses: Vec<Cell> =
                unknown.map(|(number, agent)| Cell::predicted(number, expected(agent))).collect();
            guesses.sort_by(|a, b| a.cost.total_cmp(&b.cost));
            guesses.truncate(predicted);
            guesses
        }
        Outlook::Everywhere => match median(&measured) {
            Some(cost) => unknown.map(|(number, _)| Cell::predicted(number, cost)).collect(),
            None => Vec::new(),
        },
    };
    [measured, guesses].concat()
}

/// The middle cost, the upper one of two.
fn median(cells: &[Cell]) -> Option<f64> {
    let mut costs: Vec<f64> = cells.iter().map(|cell| cell.cost).collect();
    costs.sort_by(f64::total_cmp);
    costs.get(costs.len() / 2).copied()
}
