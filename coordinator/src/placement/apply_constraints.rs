//! Background task: applies pins and exclusions to the delegations.

use std::collections::HashMap;

use delegation::constraints::Correction;
use hierarchy::Range;
use model::{AgentId, DAY_MS, PinId};
use store::constraints::{self, Constraint, Kind};
use store::delegations::{self, Assignment, Cause, DelegationOutcome, SubnetState};
use store::hosts::WaitingHost;
use store::regions::Loans;
use store::{StoreError, searches};

use crate::placement::Placement;
use crate::placement::constraints::assign::assign;
use crate::placement::constraints::plan::PinState;
use crate::placement::release::release;
use crate::runtime::constraints::current_constraints;
use crate::runtime::events::Event;
use crate::runtime::outcome::Outcome;
use crate::runtime::quantity::quantity;
use crate::runtime::region_moves::addresses;
use crate::search::open_searches::open;

/// A search that found no other agent is repeated after so long.
const REPEAT_AFTER_MS: i64 = 3_600_000;

/// Time after which a search without any answer is repeated: a day.
const SILENT_AGAIN_AFTER_MS: i64 = DAY_MS;

/// Why a subnet loses its agent without a search, in the audit log.
const NO_TARGET: &str = "no host of it can be probed, so that no search can be made";

/// Subnets for which searches are opened by one statement.
const PART: usize = 500;

/// Ends expired pins and exclusions, assigns pinned subnets to their agents, and opens searches for
/// subnets whose pin has ended or whose agent is excluded. Such an agent keeps the subnet until the
/// search has found another.
pub async fn run(placement: &Placement) -> Result<Outcome, anyhow::Error> {
    let ended = constraints::expire(&placement.store, placement.clock.now()).await?;
    if ended > 0 {
        placement.events.emit(Event::ConstraintsChanged);
    }
    let Some(delegated) = placement.hierarchy.current() else { return Ok(Outcome::Idle) };
    let constraints = current_constraints(&placement.store, placement.clock.now()).await?;
    let pin_state = PinState::read(placement, &delegated, &constraints.applied_pins()).await?;
    let plan = pin_state.plan(&delegated, &constraints);
    let region_moves = placement.region_moves.load();
    let mut pinned = Vec::new();
    let mut reopened = Vec::new();
    let mut lent = 0;
    for (subnet, correction) in plan {
        let range = delegated.hierarchy().subnet(subnet).range();
        let holder = delegated.delegation_table().agent_of(subnet);
        let may_go =
            |to| holder.is_none_or(|holder| region_moves.allows(addresses(&range), holder, to));
        match correction {
            // The store would refuse it, in a transaction for each of these subnets.
            Correction::Assign { agent, .. } if !may_go(agent) => lent += 1,
            Correction::Assign { pin, agent } => pinned.push((range, pin, agent)),
            Correction::Reopen { .. } => reopened.push(range),
        }
    }
    let assigned = assign_pinned(placement, &pinned).await?;
    lent += assigned.lent;
    let released = reopen(placement, &reopened).await?;
    Ok(outcome(ended, assigned.done, released, lent))
}

/// What a run did. Pinned subnets that wait for the end of a loan are named as long as they wait.
fn outcome(ended: u64, assigned: u64, released: u64, lent: usize) -> Outcome {
    if ended + assigned + released == 0 && lent == 0 {
        return Outcome::Idle;
    }
    let waiting = match lent {
        0 => String::new(),
        _ => format!(", {} lent to a region and not pinned yet", quantity(lent, "subnet")),
    };
    Outcome::Done(format!(
        "ended {ended} pins and exclusions, pinned {assigned} subnets, released {released}{waiting}"
    ))
}

/// What became of subnets that pins give to agents.
#[derive(Default)]
pub(crate) struct Assigned {
    pub(crate) done: u64,
    /// Subnets that stay without the agent until a loan ends.
    lent: usize,
}

/// Applies pins: assigns each subnet to the agent of its pin.
pub(crate) async fn assign_pinned(
    placement: &Placement,
    pinned: &[(Range, PinId, AgentId)],
) -> Result<Assigned, StoreError> {
    let mut assigned = Assigned::default();
    if pinned.is_empty() {
        return Ok(assigned);
    }
    let rules =
        constraints::list_active(&placement.store, Kind::Pin, placement.clock.now()).await?;
    let rules: HashMap<i64, Constraint> = rules.into_iter().map(|rule| (rule.id, rule)).collect();
    let subnets: Vec<Range> = pinned.iter().map(|(subnet, ..)| *subnet).collect();
    let states = delegations::subnet_states(&placement.store, &subnets).await?;
    let loans = Loans::read(&placement.store, placement.clock.now()).await?;
    for (state, (_, pin, agent)) in states.iter().zip(pinned) {
        // The pin was removed since the plan was computed.
        let Some(rule) = rules.get(&pin.get()) else { continue };
        // The store would refuse it, in a transaction for each of these subnets.
        if state.is_kept_from(*agent, &loans) {
            assigned.lent += 1;
            continue;
        }
        let assignment = Assignment {
            subnet: state.subnet,
            agent: *agent,
            fencing_number: state.fencing_number,
            cause: Cause::Pin(*pin),
            by: &rule.created_by,
            note: &rule.reason,
        };
        match assign(placement, &assignment).await? {
            DelegationOutcome::Applied(_) => assigned.done += 1,
            DelegationOutcome::Lent => assigned.lent += 1,
            DelegationOutcome::Outdated | DelegationOutcome::AgentGone => {}
        }
    }
    Ok(assigned)
}

/// Opens a search for each subnet, or releases it where no known host could be probed. Returns the
/// number of subnets for which either was done.
pub(super) async fn reopen(placement: &Placement, subnets: &[Range]) -> Result<u64, StoreError> {
    if subnets.is_empty() {
        return Ok(0);
    }
    let states = delegations::subnet_states(&placement.store, subnets).await?;
    let (with_target, without): (Vec<SubnetState>, Vec<SubnetState>) =
        states.into_iter().partition(|state| state.has_target);
    let mut released = 0;
    for state in &without {
        released += u64::from(release(placement, state, "coordinator", NO_TARGET).await?);
    }
    let searched: Vec<Range> = with_target.iter().map(|state| state.subnet).collect();
    let targets = targets_of(placement, &searched).await?;
    Ok(released + open(&placement.search, targets).await?)
}

/// What to probe in those of the subnets that are to be searched for again by now.
pub(super) async fn targets_of(
    placement: &Placement,
    subnets: &[Range],
) -> Result<Vec<WaitingHost>, StoreError> {
    let now = placement.clock.now();
    let since = now.plus_ms(-REPEAT_AFTER_MS);
    let silent_since = now.plus_ms(-SILENT_AGAIN_AFTER_MS);
    searches::targets(&placement.store, subnets, since, silent_since).await
}

/// [`reopen`] for any number of subnets, a part at a time, until about `most` are done.
pub(super) async fn reopen_many(
    placement: &Placement,
    subnets: &[Range],
    most: u64,
) -> Result<u64, StoreError> {
    let mut done = 0;
    for part in subnets.chunks(PART) {
        done += reopen(placement, part).await?;
        if done >= most {
            break;
        }
    }
    Ok(done)
}
