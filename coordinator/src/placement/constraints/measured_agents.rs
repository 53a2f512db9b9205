//! Measured agents: which agents have measured the subnets of a range, for admins who choose one.

use std::collections::BTreeMap;

use hierarchy::Range;
use model::AgentId;
use store::{StoreError, loads};

use crate::placement::Placement;
use crate::runtime::delegated_hierarchy::DelegatedHierarchy;

/// Most subnets whose answers are read.
const SUBNETS_MAX: usize = 5_000;

/// An agent with its measured round trips to the subnets of a range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MeasuredAgent {
    pub agent: AgentId,
    /// Number of subnets that it has measured.
    pub subnets: usize,
    /// Median round trip in microseconds.
    pub median_us: u32,
}

/// The agents that have measured delegated subnets within `range`, the nearest first.
pub async fn measured_agents(
    placement: &Placement,
    delegated: &DelegatedHierarchy,
    range: &Range,
) -> Result<Vec<MeasuredAgent>, StoreError> {
    let hierarchy = delegated.hierarchy();
    let subnets: Vec<Range> = delegated
        .delegation_table()
        .between(hierarchy.beginning_in(range))
        .map(|(subnet, _)| hierarchy.subnet(subnet).range())
        .filter(|subnet| range.contains_range(subnet))
        .take(SUBNETS_MAX)
        .collect();
    let mut times: BTreeMap<AgentId, Vec<u32>> = BTreeMap::new();
    for answer in loads::answers(&placement.store, &subnets, placement.clock.now()).await? {
        if let Some(rtt_us) = answer.rtt_us {
            times.entry(answer.agent).or_default().push(rtt_us);
        }
    }
    let mut measured: Vec<MeasuredAgent> = times
        .into_iter()
        .map(|(agent, mut times)| {
            times.sort_unstable();
            MeasuredAgent { agent, subnets: times.len(), median_us: times[times.len() / 2] }
        })
        .collect();
    measured.sort_by_key(|agent| (agent.median_us, agent.agent));
    Ok(measured)
}
