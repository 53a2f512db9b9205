//! What admins wish by hand, and why some of it is refused.

use delegation::Constraints;
use delegation::constraints::{Exclusion, Pin};
use hierarchy::Scope;
use model::{AgentId, AgentState, DelegationId, ExclusionId, PinId, UnixMillis};
use store::StoreError;
use store::agents;
use store::constraints::{self, Kind, Made, New};

use crate::placement::Placement;
use crate::placement::constraints::plan::Ground;
use crate::placement::constraints::preview::{self, Preview};
use crate::runtime::constraints::current_constraints;
use crate::runtime::delegated_hierarchy::DelegatedHierarchy;
use crate::runtime::events::Event;

/// Why a wish is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Nothing can be meant yet.
    #[error("No registry data is loaded yet; run rir-loader load.")]
    NoHierarchy,
    /// The scope names nothing.
    #[error("No subnet of the hierarchy lies in {scope}{hint}.")]
    Nowhere {
        /// What was named.
        scope: String,
        /// What may have been meant.
        hint: String,
    },
    /// It would never count.
    #[error("The expiry lies in the past; give a later moment, or none.")]
    Past,
    /// There is no such agent.
    #[error("There is no agent {0}.")]
    NoAgent(AgentId),
    /// The agent may not hold anything.
    #[error("{agent} is {}; choose an agent that is approved.", state.as_str())]
    NotWorking {
        /// Who.
        agent: AgentId,
        /// Where it stands.
        state: AgentState,
    },
    /// Two words for one thing.
    #[error("There is one for {scope} already; remove it first.")]
    Taken {
        /// What was named.
        scope: String,
    },
    /// The agent is excluded from there.
    #[error("{agent} is excluded there by {exclusion}; remove that exclusion first.")]
    Excluded {
        /// Who.
        agent: AgentId,
        /// By what.
        exclusion: ExclusionId,
    },
    /// The agent is pinned there.
    #[error("{agent} is pinned there by {pin}; remove that pin first.")]
    PinnedThere {
        /// Who.
        agent: AgentId,
        /// By what.
        pin: PinId,
    },
    /// A pin holds the subnet.
    #[error("{0} holds this subnet where it is; remove that pin first.")]
    Pinned(PinId),
    /// Another delegation took its place.
    #[error("{0} has ended; override the delegation that holds now.")]
    Ended(DelegationId),
    /// Nothing would change.
    #[error("{0} has this subnet already.")]
    HasIt(AgentId),
    /// Somebody was faster.
    #[error("The subnet was delegated anew at the same moment; look again and repeat it.")]
    Meanwhile,
}

/// A pin or an exclusion that an admin wishes for.
#[derive(Debug, Clone)]
pub struct Wish<'a> {
    /// Which of the two.
    pub kind: Kind,
    /// What.
    pub scope: Scope,
    /// Who.
    pub agent: AgentId,
    /// Why.
    pub reason: &'a str,
    /// Until when.
    pub expires_at: Option<UnixMillis>,
    /// The admin.
    pub by: &'a str,
}

/// What came of a wish: the number it has from now on, none for a preview; and what moves.
pub type Outcome<Id> = Result<(Option<Id>, Preview), Refusal>;

/// Makes a pin or an exclusion, or previews it. The background task carries out what follows.
pub async fn make(
    placement: &Placement,
    wish: &Wish<'_>,
    dry_run: bool,
) -> Result<Outcome<i64>, StoreError> {
    let Some(delegated) = placement.hierarchy.current() else {
        return Ok(Err(Refusal::NoHierarchy));
    };
    let before = current_constraints(&placement.store, placement.clock.now()).await?;
    if let Some(refusal) = refusal(placement, &delegated, &before, wish).await? {
        return Ok(Err(refusal));
    }
    let after = with(&before, wish);
    let plan = Ground::see(placement, &delegated).await?.difference(&delegated, &before, &after);
    let preview = preview::of_plan(placement, &delegated, &plan).await?;
    if dry_run {
        return Ok(Ok((None, preview)));
    }
    let Wish { kind, ref scope, agent, reason, expires_at, by } = *wish;
    let new = New { kind, scope, agent, reason, by, expires_at };
    Ok(match constraints::make(&placement.store, &new, placement.clock.now()).await? {
        Made::Done(id) => {
            placement.events.emit(Event::ConstraintsChanged);
            Ok((Some(id), preview))
        }
        Made::Taken => Err(Refusal::Taken { scope: scope.to_string() }),
        Made::AgentGone => Err(Refusal::NoAgent(agent)),
    })
}

/// As if the wish was granted. It has a number that no other has.
fn with(constraints: &Constraints, wish: &Wish<'_>) -> Constraints {
    let (mut pins, mut exclusions) =
        (constraints.pins().to_vec(), constraints.exclusions().to_vec());
    let (scope, agent) = (wish.scope.clone(), wish.agent);
    match wish.kind {
        Kind::Pin => pins.push(Pin { id: PinId::new(i64::MAX), scope, agent }),
        Kind::Exclusion => {
            exclusions.push(Exclusion { id: ExclusionId::new(i64::MAX), scope, agent });
        }
    }
    Constraints::new(pins, exclusions)
}

async fn refusal(
    placement: &Placement,
    delegated: &DelegatedHierarchy,
    constraints: &Constraints,
    wish: &Wish<'_>,
) -> Result<Option<Refusal>, StoreError> {
    if !wish.scope.is_known(delegated.hierarchy()) {
        return Ok(Some(nowhere(delegated, &wish.scope)));
    }
    if wish.expires_at.is_some_and(|at| at <= placement.clock.now()) {
        return Ok(Some(Refusal::Past));
    }
    if let Some(refusal) = not_working(placement, wish.agent).await? {
        return Ok(Some(refusal));
    }
    Ok(clash(delegated, constraints, wish))
}

fn nowhere(delegated: &DelegatedHierarchy, scope: &Scope) -> Refusal {
    let hint = match scope {
        Scope::Range(range) => {
            let around =
                delegated.hierarchy().subnet(delegated.hierarchy().smallest_holding(range)).range();
            format!("; the smallest around it is {around}")
        }
        Scope::Company { .. } | Scope::Country(_) => String::new(),
    };
    Refusal::Nowhere { scope: scope.to_string(), hint }
}

pub(super) async fn not_working(
    placement: &Placement,
    agent: AgentId,
) -> Result<Option<Refusal>, StoreError> {
    Ok(match agents::identity(&placement.store, agent).await?.map(|identity| identity.state) {
        None => Some(Refusal::NoAgent(agent)),
        Some(AgentState::Approved | AgentState::Paused) => None,
        Some(state) => Some(Refusal::NotWorking { agent, state }),
    })
}

/// Whether what was said before says the contrary, or the same.
fn clash(
    delegated: &DelegatedHierarchy,
    constraints: &Constraints,
    wish: &Wish<'_>,
) -> Option<Refusal> {
    let hierarchy = delegated.hierarchy();
    let (scope, agent) = (&wish.scope, wish.agent);
    let taken = match wish.kind {
        Kind::Pin => constraints.pins().iter().any(|pin| pin.scope == *scope),
        Kind::Exclusion => constraints
            .exclusions()
            .iter()
            .any(|other| other.scope == *scope && other.agent == agent),
    };
    if taken {
        return Some(Refusal::Taken { scope: scope.to_string() });
    }
    let covered =
        hierarchy.iter().map(|subnet| subnet.id()).filter(|id| scope.covers(hierarchy, *id));
    match wish.kind {
        Kind::Pin => {
            let mut found =
                covered.filter_map(|subnet| constraints.exclusion(hierarchy, subnet, agent));
            found.next().map(|found| Refusal::Excluded { agent, exclusion: found.id })
        }
        Kind::Exclusion => {
            let pinned =
                |subnet| constraints.pin(hierarchy, subnet).filter(|pin| pin.agent == agent);
            let mut found = covered.filter_map(pinned);
            found.next().map(|pin| Refusal::PinnedThere { agent, pin: pin.id })
        }
    }
}

/// Removes a pin or an exclusion, or previews that. `None` when there is none of that number that
/// counts.
pub async fn remove(
    placement: &Placement,
    kind: Kind,
    id: i64,
    by: &str,
    dry_run: bool,
) -> Result<Option<Preview>, StoreError> {
    let before = current_constraints(&placement.store, placement.clock.now()).await?;
    let Some(after) = without(&before, kind, id) else { return Ok(None) };
    let preview = match placement.hierarchy.current() {
        Some(delegated) => {
            let plan =
                Ground::see(placement, &delegated).await?.difference(&delegated, &before, &after);
            preview::of_plan(placement, &delegated, &plan).await?
        }
        None => Preview::default(),
    };
    if !dry_run {
        if !constraints::remove(&placement.store, kind, id, by, placement.clock.now()).await? {
            return Ok(None);
        }
        placement.events.emit(Event::ConstraintsChanged);
    }
    Ok(Some(preview))
}

fn without(constraints: &Constraints, kind: Kind, id: i64) -> Option<Constraints> {
    let (mut pins, mut exclusions) =
        (constraints.pins().to_vec(), constraints.exclusions().to_vec());
    let before = pins.len() + exclusions.len();
    match kind {
        Kind::Pin => pins.retain(|pin| pin.id.get() != id),
        Kind::Exclusion => exclusions.retain(|exclusion| exclusion.id.get() != id),
    }
    (pins.len() + exclusions.len() < before).then(|| Constraints::new(pins, exclusions))
}
