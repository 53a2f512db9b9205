//! What was tied to the subnets of one generation is carried over to the next.

use std::sync::Arc;

use hierarchy::remap::{RangeChange, RemapCounts, Remapping, SearchRemapping};
use hierarchy::{Hierarchy, Range};
use model::{DelegationId, SearchId};
use serde_json::{Value, json};
use store::delegations::{self, Tied};
use store::{StoreError, audit, constraints, generations};

use crate::runtime::state::Coordinator;

/// Moves that are named one by one in the audit; the rest is in `delegations`, where each says why.
const NAMED: usize = 100;

/// Puts delegations and open searches on the subnets of a new generation and says what became of
/// them. Nothing happens to what is in its place, so that doing it again changes nothing. The
/// caller keeps others from changing delegations meanwhile.
pub async fn carry_over(
    coordinator: &Coordinator,
    new: &Arc<Hierarchy>,
) -> Result<RemapCounts, StoreError> {
    let tied = Tied::read(&coordinator.store).await?;
    let old = before(coordinator, new, &tied).await?;
    let plan = tied.plan(old.as_deref(), new);
    let census = RemapCounts::of(&plan.delegations);
    if plan.is_unchanged() {
        return Ok(census);
    }
    let now = coordinator.now();
    delegations::carry(&coordinator.store, &plan.delegations, now).await?;
    delegations::carry_searches(&coordinator.store, &plan.searches, now).await?;
    constraints::carry(&coordinator.store, &plan.constraints, now).await?;
    note(coordinator, new, "delegations.carry", &delegations_told(&plan.delegations, &census))
        .await?;
    if let Some(told) = searches_told(&plan.searches) {
        note(coordinator, new, "searches.carry", &told).await?;
    }
    tracing::info!(generation = %new.generation(), %census, "delegations were carried over");
    Ok(census)
}

/// The generation that the delegations were made on: the one in memory, else the one that was
/// retired last. It is read only where it is needed, since nothing is said of a range that is still
/// there.
async fn before(
    coordinator: &Coordinator,
    new: &Hierarchy,
    tied: &Tied,
) -> Result<Option<Arc<Hierarchy>>, StoreError> {
    let in_memory = coordinator
        .delegated()
        .filter(|delegated| delegated.hierarchy().generation() != new.generation());
    if let Some(delegated) = in_memory {
        return Ok(Some(Arc::clone(delegated.hierarchy())));
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
    action: &str,
    detail: &Value,
) -> Result<(), StoreError> {
    let subject = format!("generation {}", new.generation());
    let entry = audit::Entry { actor: "coordinator", action, subject: &subject, detail };
    audit::write(&coordinator.store, &entry, coordinator.now()).await
}

fn counts(count: impl Fn(RangeChange) -> u64) -> Value {
    RangeChange::ALL
        .iter()
        .map(|fate| (fate.as_str().to_owned(), Value::from(count(*fate))))
        .collect()
}

fn delegations_told(carried: &[Remapping<DelegationId>], census: &RemapCounts) -> Value {
    let moves: Vec<_> =
        carried.iter().filter(|one| !one.stays()).take(NAMED).map(described).collect();
    json!({ "counts": counts(|fate| census.count(fate)), "yielded": census.yielded, "moves": moves })
}

/// What became of open searches; none where all stay.
fn searches_told(followed: &[SearchRemapping<SearchId>]) -> Option<Value> {
    let moved: Vec<_> = followed.iter().filter(|one| !one.stays()).collect();
    let count = |fate| followed.iter().filter(|one| one.change == fate).count() as u64;
    let ended = moved.iter().filter(|one| one.redundant).count();
    let named: Vec<_> = moved.iter().take(NAMED).map(|one| followed_to(one)).collect();
    (!moved.is_empty()).then(|| json!({ "counts": counts(count), "ended": ended, "moves": named }))
}

fn followed_to(one: &SearchRemapping<SearchId>) -> Value {
    json!({
        "search": one.search.key.to_string(),
        "from": one.search.range.to_string(),
        "why": one.change.as_str(),
        "to": (!one.redundant).then(|| one.subnet.to_string()),
    })
}

fn described(one: &Remapping<DelegationId>) -> Value {
    let texts = |ranges: &[Range]| ranges.iter().map(Range::to_string).collect::<Vec<_>>();
    let yields: Vec<_> = one
        .ceded
        .iter()
        .map(|(range, to)| json!({ "range": range.to_string(), "to": to.to_string() }))
        .collect();
    json!({
        "delegation": one.claim.key.to_string(),
        "from": one.claim.range.to_string(),
        "why": one.change.as_str(),
        "to": texts(&one.assigned),
        "yields": yields,
    })
}

#[cfg(test)]
mod tests {
    use hierarchy::remap::SearchClaim;

    use super::*;

    fn followed(fate: RangeChange, place: &str, over: bool) -> SearchRemapping<SearchId> {
        let (range, target) = ("198.51.100.0/24".parse().unwrap(), "198.51.100.7".parse().unwrap());
        let search = SearchClaim { key: SearchId::new(3), range, target };
        SearchRemapping { search, change: fate, subnet: place.parse().unwrap(), redundant: over }
    }

    #[test]
    fn searches_that_move_are_told_and_those_that_stay_are_counted() {
        assert_eq!(searches_told(&[followed(RangeChange::Same, "198.51.100.0/24", false)]), None);
        let some = [
            followed(RangeChange::Same, "198.51.100.0/24", false),
            followed(RangeChange::Split, "198.51.100.0/25", false),
            followed(RangeChange::Vanished, "198.51.0.0/16", true),
        ];
        let move_of = |why: &str, to: Option<&str>| json!({ "search": "sch_3", "from": "198.51.100.0/24", "why": why, "to": to });
        let expected = json!({
            "counts": { "same": 1, "transferred": 0, "split": 1, "merged": 0, "vanished": 1 },
            "ended": 1,
            "moves": [move_of("split", Some("198.51.100.0/25")), move_of("vanished", None)],
        });
        assert_eq!(searches_told(&some), Some(expected));
    }
}
