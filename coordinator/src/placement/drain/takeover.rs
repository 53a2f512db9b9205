//! Takeover: which agents take over the subnets of an agent that leaves.

use std::collections::BTreeMap;

use delegation::Constraints;
use delegation::successors::{LeavingSubnet, successors};
use hierarchy::{Range, SubnetId};
use model::AgentId;
use store::StoreError;
use store::agents::{self, Worker};

use crate::placement::Placement;
use crate::placement::constraints::preview::{Preview, preview_moves};
use crate::placement::load_snapshot::{LoadSnapshot, MeasuredTimes, SubnetLoads};
use crate::runtime::constraints::current_constraints;
use crate::runtime::delegated_hierarchy::DelegatedHierarchy;

/// Most subnets of a preview: what the database answers within a second.
const PREVIEW_MAX: usize = 5_000;

/// A subnet of the leaving agent with the agent that takes it over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Takeover {
    pub subnet: Range,
    /// `None` when no other agent that may take it has measured it: a search decides.
    pub successor: Option<AgentId>,
}

/// The subnets that an agent holds, in the order of the hierarchy.
pub fn held_by(delegated: &DelegatedHierarchy, agent: AgentId) -> Vec<SubnetId> {
    let table = delegated.delegation_table();
    let held = table.iter().filter(|(_, delegation)| delegation.agent == agent);
    let mut held: Vec<SubnetId> = held.map(|(subnet, _)| subnet).collect();
    held.sort_unstable();
    held
}

/// Computes who takes over these subnets of `leaving`.
pub async fn plan_takeover(
    placement: &Placement,
    delegated: &DelegatedHierarchy,
    leaving: AgentId,
    subnets: &[SubnetId],
) -> Result<Vec<Takeover>, StoreError> {
    let hierarchy = delegated.hierarchy();
    let ranges: Vec<Range> = subnets.iter().map(|id| hierarchy.subnet(*id).range()).collect();
    let now = placement.clock.now();
    let constraints = current_constraints(&placement.store, now).await?;
    let times = MeasuredTimes::read(placement, &ranges).await?;
    let loads = SubnetLoads::of(&placement.store, &ranges, now).await?;
    let leaving_subnets: Vec<LeavingSubnet> = subnets
        .iter()
        .zip(&ranges)
        .map(|(subnet, range)| LeavingSubnet {
            load: loads.pages_a_day(range),
            measured: permitted_times(delegated, &constraints, &times, *subnet, range),
        })
        .collect();
    let room = room(placement, delegated, &constraints, leaving).await?;
    let found = successors(&leaving_subnets, room);
    let takeover = |(subnet, successor)| Takeover { subnet, successor };
    Ok(ranges.into_iter().zip(found).map(takeover).collect())
}

/// The round trips measured by agents that may be given the subnet.
fn permitted_times(
    delegated: &DelegatedHierarchy,
    constraints: &Constraints,
    times: &MeasuredTimes,
    subnet: SubnetId,
    range: &Range,
) -> Vec<(AgentId, u32)> {
    let measured = times.of(range).filter_map(|answer| Some((answer.agent, answer.rtt_us?)));
    measured
        .filter(|(agent, _)| !constraints.forbids(delegated.hierarchy(), subnet, *agent))
        .collect()
}

/// Pages a day that each other agent can still take; only approved agents that can be reached, or
/// that sleep outside their spans, are in it.
async fn room(
    placement: &Placement,
    delegated: &DelegatedHierarchy,
    constraints: &Constraints,
    leaving: AgentId,
) -> Result<BTreeMap<AgentId, u64>, StoreError> {
    let snapshot = LoadSnapshot::take(placement, delegated).await?;
    let workers = agents::workers(&placement.store).await?;
    let may_take = |worker: &&Worker| {
        worker.agent != leaving
            && !constraints.drained().contains(&worker.agent)
            && is_present(placement, worker)
    };
    let free = |worker: &Worker| {
        let load = snapshot.agent(worker.agent)?;
        Some((worker.agent, load.capacity.saturating_sub(load.load)))
    };
    Ok(workers.iter().filter(may_take).filter_map(free).collect())
}

fn is_present(placement: &Placement, worker: &Worker) -> bool {
    let now = placement.clock.now();
    let cutoff = placement.limits.heartbeat_cutoff(now);
    worker.asleep_until.is_some_and(|until| until > now)
        || worker.last_heartbeat_at.is_some_and(|at| at >= cutoff)
}

/// What would happen to the subnets of an agent if it left.
#[derive(Debug, Clone, PartialEq)]
pub struct TakeoverPreview {
    /// Number of subnets that it holds.
    pub held: usize,
    /// The moves of the first [`PREVIEW_MAX`] of them.
    pub preview: Preview,
}

/// Previews the drain of an agent: the same computation, without the last step.
pub async fn preview_takeover(
    placement: &Placement,
    delegated: &DelegatedHierarchy,
    leaving: AgentId,
) -> Result<TakeoverPreview, StoreError> {
    let mut subnets = held_by(delegated, leaving);
    let held = subnets.len();
    subnets.truncate(PREVIEW_MAX);
    let plan = plan_takeover(placement, delegated, leaving, &subnets).await?;
    let moves: Vec<(Range, Option<AgentId>)> =
        plan.into_iter().map(|takeover| (takeover.subnet, takeover.successor)).collect();
    Ok(TakeoverPreview { held, preview: preview_moves(placement, delegated, &moves).await? })
}
