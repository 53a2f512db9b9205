//! Successors: which agents take over the subnets of an agent that leaves.
//!
//! Only measured round trips count, because nothing moves on a prediction. A subnet that no other
//! agent has measured has no successor here: its search is opened again.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use model::AgentId;

/// A subnet of the agent that leaves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeavingSubnet {
    /// Pages a day.
    pub load: u64,
    /// Agents that have measured it, with their round trips in microseconds.
    pub measured: Vec<(AgentId, u32)>,
}

/// The successor of each subnet, in their order. `room` says how many pages a day each agent that
/// may take subnets can still take; agents without an entry get nothing.
pub fn successors(
    subnets: &[LeavingSubnet],
    mut room: BTreeMap<AgentId, u64>,
) -> Vec<Option<AgentId>> {
    let mut found = vec![None; subnets.len()];
    for place in by_load(subnets) {
        let subnet = &subnets[place];
        let Some(agent) = choose(subnet, &room) else { continue };
        if let Some(left) = room.get_mut(&agent) {
            *left = left.saturating_sub(subnet.load);
        }
        found[place] = Some(agent);
    }
    found
}

/// The indices of the subnets, those with the largest loads first. A large load fits into the
/// fewest agents, so it is placed before small loads have filled them.
fn by_load(subnets: &[LeavingSubnet]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..subnets.len()).collect();
    order.sort_by_key(|place| Reverse(subnets[*place].load));
    order
}

/// The nearest agent with room for the subnet. Where none has room it is the nearest of all:
/// balance relieves agents over their capacity afterwards, but the subnet must have an agent.
fn choose(subnet: &LeavingSubnet, room: &BTreeMap<AgentId, u64>) -> Option<AgentId> {
    let mut nearest: Option<(u32, AgentId)> = None;
    let mut nearest_with_room: Option<(u32, AgentId)> = None;
    for (agent, rtt_us) in &subnet.measured {
        let Some(left) = room.get(agent) else { continue };
        let candidate = (*rtt_us, *agent);
        if nearest.is_none_or(|best| candidate < best) {
            nearest = Some(candidate);
        }
        if *left >= subnet.load && nearest_with_room.is_none_or(|best| candidate < best) {
            nearest_with_room = Some(candidate);
        }
    }
    nearest_with_room.or(nearest).map(|(_, agent)| agent)
}
