//! Requests of admins to create or remove a pin or an exclusion.

use delegation::Constraints;
use delegation::constraints::{Exclusion, Pin};
use hierarchy::{Range, Scope};
use model::{AgentId, AgentState, DelegationId, ExclusionId, PinId};
use store::StoreError;
use store::agents;
use store::constraints::{self, CreateOutcome, Kind, NewConstraint};

use crate::placement::Placement;
use crate::placement::constraints::plan::PinState;
use crate::placement::constraints::preview::{Preview, preview_plan};
use crate::runtime::constraints::current_constraints;
use crate::runtime::delegated_hierarchy::DelegatedHierarchy;
use crate::runtime::events::Event;

/// Why a request is refused; the texts are shown to the admin.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("No registry data is loaded yet; run rir-loader load.")]
    NoHierarchy,
    #[error("No subnet of the hierarchy lies in {scope}{hint}.")]
    Nowhere {
        scope: String,
        /// Names the smallest subnet around the scope.
        hint: String,
    },
    #[error("The expiry lies in the past; give a later moment, or none.")]
    Past,
    #[error("There is no agent {0}, or it is leaving.")]
    NoAgent(AgentId),
    /// The agent is pending, paused or revoked.
    #[error("{agent} is {}; choose an agent that is approved.", state.as_str())]
    NotWorking { agent: AgentId, state: AgentState },
    /// A pin or an override to an agent that is drained.
    #[error("{0} is drained; end its drain first, or choose another agent.")]
    Drained(AgentId),
    /// A second pin of the same scope, or a second exclusion of the same scope and agent.
    #[error("There is one for {scope} already; remove it first.")]
    Taken { scope: String },
    #[error("{agent} is excluded there by {exclusion}; remove that exclusion first.")]
    Excluded { agent: AgentId, exclusion: ExclusionId },
    /// An exclusion of an agent from a subnet that is pinned to it.
    #[error("{agent} is pinned there by {pin}; remove that pin first.")]
    PinnedThere { agent: AgentId, pin: PinId },
    /// An override of a subnet that is pinned to any agent.
    #[error("{0} holds this subnet where it is; remove that pin first.")]
    Pinned(PinId),
    #[error("{0} has ended; override the delegation that holds now.")]
    Ended(DelegationId),
    #[error("{0} has this subnet already.")]
    HasIt(AgentId),
    #[error("{0} is no subnet that may be delegated; override one that is.")]
    NotDelegable(Range),
    #[error("The subnet was delegated anew at the same moment; look again and repeat it.")]
    Meanwhile,
    #[error(
        "The subnet is lent to a region: only its members can get it. If the agent is a member, \
         repeat it in a minute at the leader."
    )]
    Lent,
}

/// The id of what was created, `None` for a preview; and what moves.
pub type RequestResult<Id> = Result<(Option<Id>, Preview), Refusal>;

/// Creates a pin or an exclusion, or previews it. The background task `apply_constraints` executes
/// what follows from it.
pub async fn create(
    placement: &Placement,
    request: &NewConstraint<'_>,
    dry_run: bool,
) -> Result<RequestResult<i64>, StoreError> {
    let Some(delegated) = placement.hierarchy.current() else {
        return Ok(Err(Refusal::NoHierarchy));
    };
    let before = current_constraints(&placement.store, placement.clock.now()).await?;
    if let Some(refusal) = refuse(placement, &delegated, &before, request).await? {
        return Ok(Err(refusal));
    }
    let preview = preview(placement, &delegated, &before, &with(&before, request)).await?;
    if dry_run {
        return Ok(Ok((None, preview)));
    }
    Ok(match constraints::create(&placement.store, request, placement.clock.now()).await? {
        CreateOutcome::Created(id) => {
            placement.events.emit(Event::ConstraintsChanged);
            Ok((Some(id), preview))
        }
        CreateOutcome::Taken => Err(Refusal::Taken { scope: request.scope.to_string() }),
        CreateOutcome::AgentGone => Err(Refusal::NoAgent(request.agent)),
    })
}

/// Removes a pin or an exclusion, or previews that. `None` when there is none with that id, or it
/// has ended.
pub async fn remove(
    placement: &Placement,
    kind: Kind,
    id: i64,
    by: &str,
    dry_run: bool,
) -> Result<Option<Preview>, StoreError> {
    let before = current_constraints(&placement.store, placement.clock.now()).await?;
    let Some(after) = without(&before, kind, id) else { return Ok(None) };
    let changes = match placement.hierarchy.current() {
        Some(delegated) => preview(placement, &delegated, &before, &after).await?,
        None => Preview::default(),
    };
    if !dry_run {
        if !constraints::remove(&placement.store, kind, id, by, placement.clock.now()).await? {
            return Ok(None);
        }
        placement.events.emit(Event::ConstraintsChanged);
    }
    Ok(Some(changes))
}

async fn preview(
    placement: &Placement,
    delegated: &DelegatedHierarchy,
    before: &Constraints,
    after: &Constraints,
) -> Result<Preview, StoreError> {
    // Most pins are in both lists.
    let mut pins = [before.applied_pins(), after.applied_pins()].concat();
    pins.sort_unstable_by_key(|pin| pin.id);
    pins.dedup_by_key(|pin| pin.id);
    let pin_state = PinState::read(placement, delegated, &pins).await?;
    let plan = pin_state.plan_change(delegated, before, after);
    preview_plan(placement, delegated, &plan).await
}

/// The constraints as if the request were granted, with an id that no stored constraint has.
fn with(constraints: &Constraints, request: &NewConstraint<'_>) -> Constraints {
    let mut pins = constraints.pins().to_vec();
    let mut exclusions = constraints.exclusions().to_vec();
    let scope = request.scope.clone();
    let agent = request.agent;
    match request.kind {
        Kind::Pin => pins.push(Pin { id: PinId::new(i64::MAX), scope, agent }),
        Kind::Exclusion => {
            exclusions.push(Exclusion { id: ExclusionId::new(i64::MAX), scope, agent });
        }
    }
    Constraints::new(pins, exclusions).with_drained(constraints.drained().clone())
}

/// `None` when no constraint has this id.
fn without(constraints: &Constraints, kind: Kind, id: i64) -> Option<Constraints> {
    let mut pins = constraints.pins().to_vec();
    let mut exclusions = constraints.exclusions().to_vec();
    let before = pins.len() + exclusions.len();
    match kind {
        Kind::Pin => pins.retain(|pin| pin.id.get() != id),
        Kind::Exclusion => exclusions.retain(|exclusion| exclusion.id.get() != id),
    }
    (pins.len() + exclusions.len() < before)
        .then(|| Constraints::new(pins, exclusions).with_drained(constraints.drained().clone()))
}

async fn refuse(
    placement: &Placement,
    delegated: &DelegatedHierarchy,
    constraints: &Constraints,
    request: &NewConstraint<'_>,
) -> Result<Option<Refusal>, StoreError> {
    let hierarchy = delegated.hierarchy();
    if !request.scope.is_known(hierarchy) {
        let hint = match request.scope {
            Scope::Range(range) => {
                let around = hierarchy.subnet(hierarchy.smallest_holding(range)).range();
                format!("; the smallest around it is {around}")
            }
            Scope::Company { .. } | Scope::Country(_) => String::new(),
        };
        return Ok(Some(Refusal::Nowhere { scope: request.scope.to_string(), hint }));
    }
    if request.expires_at.is_some_and(|at| at <= placement.clock.now()) {
        return Ok(Some(Refusal::Past));
    }
    // A paused agent may be excluded: the exclusion holds when it works again.
    let may_be_paused = request.kind == Kind::Exclusion;
    if let Some(refusal) = refuse_inactive(placement, request.agent, may_be_paused).await? {
        return Ok(Some(refusal));
    }
    Ok(refuse_conflicting(delegated, constraints, request))
}

/// Refuses an agent that is not approved, or neither approved nor paused.
pub(super) async fn refuse_inactive(
    placement: &Placement,
    agent: AgentId,
    may_be_paused: bool,
) -> Result<Option<Refusal>, StoreError> {
    Ok(match agents::identity(&placement.store, agent).await?.map(|identity| identity.state) {
        None => Some(Refusal::NoAgent(agent)),
        Some(AgentState::Approved) => None,
        Some(AgentState::Paused) if may_be_paused => None,
        Some(state) => Some(Refusal::NotWorking { agent, state }),
    })
}

/// Refuses a duplicate, and a pin and an exclusion of the same agent that both cover a subnet:
/// no delegation could obey both.
fn refuse_conflicting(
    delegated: &DelegatedHierarchy,
    constraints: &Constraints,
    request: &NewConstraint<'_>,
) -> Option<Refusal> {
    let hierarchy = delegated.hierarchy();
    let NewConstraint { scope, agent, .. } = *request;
    if request.kind == Kind::Pin && constraints.drained().contains(&agent) {
        return Some(Refusal::Drained(agent));
    }
    let is_taken = match request.kind {
        Kind::Pin => constraints.pins().iter().any(|pin| pin.scope == *scope),
        Kind::Exclusion => constraints
            .exclusions()
            .iter()
            .any(|other| other.scope == *scope && other.agent == agent),
    };
    if is_taken {
        return Some(Refusal::Taken { scope: scope.to_string() });
    }
    // Scopes of different kinds, such as a range and a company, can only be compared subnet by
    // subnet.
    scope.subnets(hierarchy).find_map(|subnet| match request.kind {
        Kind::Pin => {
            let found = constraints.exclusion(hierarchy, subnet, agent)?;
            Some(Refusal::Excluded { agent, exclusion: found.id })
        }
        Kind::Exclusion => {
            let found = constraints.pin(hierarchy, subnet).filter(|pin| pin.agent == agent)?;
            Some(Refusal::PinnedThere { agent, pin: found.id })
        }
    })
}
