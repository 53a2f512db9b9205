//! What was tied to the subnets of one generation is carried over to the next.

use std::sync::Arc;

use hierarchy::carry::{Carried, Census, Fate};
use hierarchy::{Hierarchy, Range};
use protocol::DelegationId;
use serde_json::json;
use store::delegations::{self, Tied};
use store::{StoreError, audit, generations, steering};

use crate::state::Coordinator;

/// Moves that are named one by one in the audit; the rest is in `delegations`, where each says why.
const NAMED: usize = 100;

/// Puts delegations and open searches on the subnets of a new generation and says what became of them. Nothing happens to what
/// is in its place, so that doing it again changes nothing. The caller keeps others from changing delegations meanwhile.
pub async fn carry_over(coordinator: &Coordinator, new: &Arc<Hierarchy>) -> Result<Census, StoreError> {
    let tied = Tied::read(&coordinator.store).await?;
    let old = before(coordinator, new, &tied).await?;
    let plan = tied.plan(old.as_deref(), new);
    let census = Census::of(&plan.delegations);
    if plan.is_idle() {
        return Ok(census);
    }
    let now = coordinator.now();
    delegations::carry(&coordinator.store, &plan.delegations, now).await?;
    delegations::carry_searches(&coordinator.store, &plan.searches, now).await?;
    steering::carry(&coordinator.store, &plan.rules, now).await?;
    note(coordinator, new, &plan.delegations, &census).await?;
    tracing::info!(generation = %new.generation(), %census, "delegations were carried over");
    Ok(census)
}

/// The generation that the delegations were made on: the one in memory, else the one that was retired last. It is read only where
/// it is needed, since nothing is said of a range that is still there.
async fn before(
    coordinator: &Coordinator,
    new: &Hierarchy,
    tied: &Tied,
) -> Result<Option<Arc<Hierarchy>>, StoreError> {
    let in_memory = coordinator.atlas().filter(|atlas| atlas.hierarchy().generation() != new.generation());
    if let Some(atlas) = in_memory {
        return Ok(Some(Arc::clone(atlas.hierarchy())));
    }
    if tied.fits(new) {
        return Ok(None);
    }
    let Some(retired) = generations::retired(&coordinator.store).await? else { return Ok(None) };
    Ok(generations::read(&coordinator.store, retired).await?.map(Arc::new))
}

async fn note(
    coordinator: &Coordinator,
    new: &Hierarchy,
    carried: &[Carried<DelegationId>],
    census: &Census,
) -> Result<(), StoreError> {
    let counts: serde_json::Map<_, _> =
        Fate::ALL.iter().map(|fate| (fate.as_str().to_owned(), census.count(*fate).into())).collect();
    let moves: Vec<_> = carried.iter().filter(|one| !one.stays()).take(NAMED).map(described).collect();
    let detail = json!({ "counts": counts, "yielded": census.yielded, "moves": moves });
    let subject = format!("generation {}", new.generation());
    let entry = audit::Entry {
        actor: "coordinator",
        action: "delegations.carry",
        subject: &subject,
        detail: &detail,
    };
    audit::write(&coordinator.store, &entry, coordinator.now()).await
}

fn described(one: &Carried<DelegationId>) -> serde_json::Value {
    let texts = |ranges: &[Range]| ranges.iter().map(Range::to_string).collect::<Vec<_>>();
    let yields: Vec<_> = one
        .yields
        .iter()
        .map(|(range, to)| json!({ "range": range.to_string(), "to": to.to_string() }))
        .collect();
    json!({
        "delegation": one.claim.key.to_string(),
        "from": one.claim.range.to_string(),
        "why": one.fate.as_str(),
        "to": texts(&one.gets),
        "yields": yields,
    })
}
