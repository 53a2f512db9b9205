//! Takeover: which agents take over the subnets of an agent that leaves.

use std::collections::BTreeMap;
use std::sync::Arc;

use delegation::successors::{LeavingSubnet, successors};
use delegation::{Availability, Constraints};
use hierarchy::{Range, SubnetId};
use model::AgentId;
use region::moves::RegionMoves;
use store::agents::{self, Worker};
use store::regions::Loans;
use store::{StoreError, delegations};

use crate::placement::Placement;
use crate::placement::constraints::preview::{Preview, preview_of};
use crate::placement::load_snapshot::{LoadSnapshot, MeasuredTimes, MoveFacts};
use crate::predictor::presence;
use crate::runtime::constraints::current_constraints;
use crate::runtime::delegated_hierarchy::DelegatedHierarchy;
use crate::runtime::region_moves::addresses;

/// Most subnets of a preview: their loads and times are some thousand rows anywhere on the disk.
const PREVIEW_MAX: usize = 500;

/// A subnet of the leaving agent with the agent that takes it over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Takeover {
    pub subnet: Range,
    /// `None` when no other agent that may take it has measured it: a search decides.
    pub successor: Option<AgentId>,
}

/// The subnets that an agent holds, in the order of the hierarchy.
pub fn held_by(delegated: &DelegatedHierarchy, agent: AgentId) -> Vec<SubnetId> {
    delegated.delegation_table().subnets_of(agent).collect()
}

/// Computes which agents take over these subnets of `leaving`.
pub async fn plan_takeover(
    placement: &Placement,
    delegated: &DelegatedHierarchy,
    leaving: AgentId,
    subnets: &[SubnetId],
) -> Result<Vec<Takeover>, StoreError> {
    let ranges = ranges(delegated, subnets);
    let (facts, takers) =
        tokio::try_join!(MoveFacts::read(placement, delegated, &ranges), Takers::read(placement))?;
    let found = find_successors(placement, delegated, leaving, subnets, &facts, &takers);
    let takeover = |(subnet, successor)| Takeover { subnet, successor };
    Ok(ranges.into_iter().zip(found).map(takeover).collect())
}

fn ranges(delegated: &DelegatedHierarchy, subnets: &[SubnetId]) -> Vec<Range> {
    subnets.iter().map(|id| delegated.hierarchy().subnet(*id).range()).collect()
}

/// The agents that may take over, and what admins and loans forbid.
struct Takers {
    constraints: Constraints,
    region_moves: Arc<RegionMoves>,
    /// Known to every coordinator, `region_moves` to the leader only.
    loans: Loans,
    workers: Vec<Worker>,
}

impl Takers {
    async fn read(placement: &Placement) -> Result<Self, StoreError> {
        let now = placement.clock.now();
        let (constraints, loans, workers) = tokio::try_join!(
            current_constraints(&placement.store, now),
            Loans::read(&placement.store, now),
            agents::workers(&placement.store),
        )?;
        let region_moves = placement.region_moves.load_full();
        Ok(Self { constraints, region_moves, loans, workers })
    }
}

/// The agents that take over these subnets, in their order.
fn find_successors(
    placement: &Placement,
    delegated: &DelegatedHierarchy,
    leaving: AgentId,
    subnets: &[SubnetId],
    facts: &MoveFacts,
    takers: &Takers,
) -> Vec<Option<AgentId>> {
    let leaving_subnet = |subnet: &SubnetId| {
        let range = delegated.hierarchy().subnet(*subnet).range();
        LeavingSubnet {
            load: facts.loads.pages_a_day(&range),
            measured: permitted_times(delegated, (leaving, takers), &facts.times, *subnet, &range),
        }
    };
    let leaving_subnets: Vec<LeavingSubnet> = subnets.iter().map(leaving_subnet).collect();
    let room = room(placement, &facts.snapshot, takers, leaving);
    successors(&leaving_subnets, room)
}

/// The round trips measured by agents that may be given the subnet.
fn permitted_times(
    delegated: &DelegatedHierarchy,
    (leaving, takers): (AgentId, &Takers),
    times: &MeasuredTimes,
    subnet: SubnetId,
    range: &Range,
) -> Vec<(AgentId, u32)> {
    let measured = times.of(range).filter_map(|answer| Some((answer.agent, answer.rtt_us?)));
    let may_take = |agent| {
        !takers.constraints.forbids(delegated.hierarchy(), subnet, agent)
            && takers.region_moves.allows(addresses(range), leaving, agent)
            && !takers.loans.keep_from(leaving, agent)
    };
    measured.filter(|(agent, _)| may_take(*agent)).collect()
}

/// Pages a day that each other agent can still take; only approved agents that work, or that sleep
/// outside their spans, are in it.
fn room(
    placement: &Placement,
    snapshot: &LoadSnapshot,
    takers: &Takers,
    leaving: AgentId,
) -> BTreeMap<AgentId, u64> {
    let may_take = |worker: &&Worker| {
        worker.agent != leaving
            && !takers.constraints.drained().contains(&worker.agent)
            && is_present(placement, worker)
    };
    let free = |worker: &Worker| {
        let load = snapshot.agent(worker.agent)?;
        Some((worker.agent, load.capacity.saturating_sub(load.load)))
    };
    takers.workers.iter().filter(may_take).filter_map(free).collect()
}

fn is_present(placement: &Placement, worker: &Worker) -> bool {
    let now = placement.clock.now();
    let presence = presence(worker, placement.limits.heartbeat_cutoff(now), now);
    !matches!(presence, Availability::Unreachable | Availability::Idle)
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
    let ranges = ranges(delegated, &subnets);
    let (states, hosts, facts, takers) = tokio::try_join!(
        delegations::subnet_states(&placement.store, &ranges),
        delegations::host_counts(&placement.store, &ranges),
        MoveFacts::read(placement, delegated, &ranges),
        Takers::read(placement),
    )?;
    let found = find_successors(placement, delegated, leaving, &subnets, &facts, &takers);
    let preview = preview_of(states.iter().zip(&hosts).zip(found), &facts);
    Ok(TakeoverPreview { held, preview })
}
