//! Background task: moves the subnets of agents that are drained to other agents.

use std::collections::{BTreeMap, HashSet};

use hierarchy::{Range, SubnetId};
use model::AgentId;
use store::StoreError;
use store::delegations::{self, Assignment, Cause, DelegationOutcome, SubnetState};
use store::drains::{self, Drain};

use crate::placement::Placement;
use crate::placement::apply_constraints::reopen;
use crate::placement::constraints::assign::assign;
use crate::placement::drain::takeover::{Takeover, held_by, plan_takeover};
use crate::placement::release::release;
use crate::runtime::delegated_hierarchy::DelegatedHierarchy;
use crate::runtime::events::Event;
use crate::runtime::outcome::Outcome;
use crate::runtime::quantity::quantity;

/// Subnets of one agent that are considered in one run.
const BATCH: usize = 200;

/// Why a subnet is taken from a drained agent, in the audit log.
const PAST_DEADLINE: &str = "the deadline of the drain passed before another agent was found";

/// The subnet of each drained agent after which the next run begins. Subnets that wait for a search
/// must not keep those behind them from moving.
#[derive(Debug, Default)]
pub struct DrainPositions(tokio::sync::Mutex<BTreeMap<AgentId, SubnetId>>);

/// What a run did.
#[derive(Debug, Clone, Copy, Default)]
struct DrainCounts {
    moved: usize,
    searched: usize,
    taken: usize,
    finished: usize,
}

/// Takes the next step of each drain. A drain that is finished has one where a region, or an answer
/// that came late, gave the agent a subnet since.
///
/// A subnet goes to the nearest agent that has measured it and has room. A subnet that no other
/// agent has measured is searched for, and stays with its agent meanwhile; after the deadline it is
/// taken from the agent in any case.
pub async fn run(placement: &Placement) -> Result<Outcome, anyhow::Error> {
    let drains = drains::list(&placement.store).await?;
    if drains.is_empty() {
        placement.drain_positions.0.lock().await.clear();
        return Ok(Outcome::Idle);
    }
    let Some(delegated) = placement.hierarchy.current() else { return Ok(Outcome::Idle) };
    let mut counts = DrainCounts::default();
    for drain in drains {
        drain_agent(placement, &delegated, &drain, &mut counts).await?;
    }
    Ok(counts.outcome())
}

async fn drain_agent(
    placement: &Placement,
    delegated: &DelegatedHierarchy,
    drain: &Drain,
    counts: &mut DrainCounts,
) -> Result<(), StoreError> {
    let batch = next_batch(placement, delegated, drain.agent).await;
    if batch.is_empty() {
        if drain.drained_at.is_none()
            && drains::finish(&placement.store, drain.agent, placement.clock.now()).await?
        {
            counts.finished += 1;
            placement.events.emit(Event::AgentAdministered);
        }
        return Ok(());
    }
    let plan = plan_takeover(placement, delegated, drain.agent, &batch).await?;
    execute(placement, drain, &plan, counts).await
}

/// The next subnets of the agent; from the first on again after the last.
async fn next_batch(
    placement: &Placement,
    delegated: &DelegatedHierarchy,
    agent: AgentId,
) -> Vec<SubnetId> {
    let mut positions = placement.drain_positions.0.lock().await;
    let held = held_by(delegated, agent);
    let after = positions.get(&agent).copied();
    let begin = after.map_or(0, |after| held.partition_point(|subnet| *subnet <= after));
    let begin = if begin >= held.len() { 0 } else { begin };
    let batch: Vec<SubnetId> = held.into_iter().skip(begin).take(BATCH).collect();
    if let Some(last) = batch.last() {
        positions.insert(agent, *last);
    }
    batch
}

async fn execute(
    placement: &Placement,
    drain: &Drain,
    plan: &[Takeover],
    counts: &mut DrainCounts,
) -> Result<(), StoreError> {
    let subnets: Vec<Range> = plan.iter().map(|takeover| takeover.subnet).collect();
    let states = delegations::subnet_states(&placement.store, &subnets).await?;
    let open = delegations::open_search_claims(&placement.store).await?;
    let searched: HashSet<Range> = open.into_iter().map(|search| search.range).collect();
    let by = &drain.requested_by;
    let is_overdue = drain.is_past_deadline(placement.clock.now());
    let mut unmeasured = Vec::new();
    for (takeover, state) in plan.iter().zip(&states) {
        // Since the table was read, a search or an admin has moved the subnet.
        if state.held.as_ref().is_none_or(|held| held.agent != drain.agent) {
            continue;
        }
        // A search may find an agent that is nearer than those that have measured the subnet so
        // far, but not beyond the deadline.
        if searched.contains(&takeover.subnet) && !is_overdue {
            continue;
        }
        match takeover.successor {
            Some(to) => counts.moved += usize::from(hand_on(placement, drain, state, to).await?),
            None if is_overdue && release(placement, state, by, PAST_DEADLINE).await? => {
                counts.taken += 1;
            }
            None => unmeasured.push(takeover.subnet),
        }
    }
    let reopened = reopen(placement, &unmeasured).await?;
    counts.searched += usize::try_from(reopened).unwrap_or(usize::MAX);
    Ok(())
}

/// Moves a subnet to its next agent. Returns whether it moved: a subnet that is lent to a region
/// stays until a member has measured it.
async fn hand_on(
    placement: &Placement,
    drain: &Drain,
    state: &SubnetState,
    to: AgentId,
) -> Result<bool, StoreError> {
    let note = format!("from {}, which is drained", drain.agent);
    let assignment = Assignment {
        subnet: state.subnet,
        agent: to,
        fencing_number: state.fencing_number,
        cause: Cause::Drain,
        by: &drain.requested_by,
        note: &note,
    };
    Ok(matches!(assign(placement, &assignment).await?, DelegationOutcome::Applied(_)))
}

impl DrainCounts {
    fn outcome(self) -> Outcome {
        let Self { moved, searched, taken, finished } = self;
        if moved + searched + taken + finished == 0 {
            return Outcome::Idle;
        }
        let summary = format!(
            "moved {}, opened {}, took away {}, drained {}",
            quantity(moved, "subnet"),
            quantity(searched, "search"),
            quantity(taken, "subnet"),
            quantity(finished, "agent"),
        );
        if moved + taken >= BATCH { Outcome::More(summary) } else { Outcome::Done(summary) }
    }
}
