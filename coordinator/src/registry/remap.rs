//! Remaps delegations, open searches and constraints to the subnets of a new generation.

use std::sync::Arc;

use hierarchy::remap::{RangeChange, RemapCounts, Remapping, SearchRemapping};
use hierarchy::{Hierarchy, Range};
use model::{DelegationId, SearchId};
use serde_json::{Value, json};
use store::constraints::LostCompany;
use store::delegations::{self, RemapInput};
use store::{StoreError, audit, constraints, generations};

use crate::registry::RegistryData;
use crate::registry::unregistered_space::complete;

/// Moves that the audit log names one by one. All of them are in `delegations`, with reasons.
const NAMED: usize = 100;

/// Moves delegations, open searches and constraints to the subnets of a new generation. What is in
/// place already stays, so repeating it changes nothing. The caller holds the lock for changing
/// delegations.
pub async fn remap(
    registry: &RegistryData,
    new: &Arc<Hierarchy>,
) -> Result<RemapCounts, anyhow::Error> {
    let now = registry.clock.now();
    let tied = RemapInput::read(&registry.store).await?;
    let old = before(registry, new, &tied).await?;
    let plan = tied.plan(old.as_deref(), new);
    let counts = RemapCounts::of(&plan.delegations);
    follow_companies(registry, &tied.lost_companies(old.as_deref(), new)).await?;
    if plan.is_unchanged() {
        generations::set_remapped(&registry.store, new.generation(), now).await?;
        return Ok(counts);
    }
    delegations::remap(&registry.store, &plan.delegations, now).await?;
    delegations::remap_searches(&registry.store, &plan.searches, now).await?;
    constraints::remap(&registry.store, &plan.constraints, now).await?;
    generations::set_remapped(&registry.store, new.generation(), now).await?;
    note(registry, new, "delegations.remap", delegations_detail(&plan.delegations, &counts))
        .await?;
    if let Some(told) = searches_detail(&plan.searches) {
        note(registry, new, "searches.remap", told).await?;
    }
    tracing::info!(generation = %new.generation(), %counts, "delegations were remapped");
    Ok(counts)
}

async fn follow_companies(registry: &RegistryData, lost: &[LostCompany]) -> Result<(), StoreError> {
    for one in lost.iter().filter(|one| one.becomes.is_none()) {
        tracing::warn!(scope = %one.scope, "a pin or an exclusion covers nothing any more");
    }
    constraints::follow_companies(&registry.store, lost, registry.clock.now()).await
}

/// The generation that the delegations were made on: the one in memory, else the one that was
/// retired last. It is read only if some range is missing in the new generation: only then does
/// the plan compare the two.
async fn before(
    registry: &RegistryData,
    new: &Hierarchy,
    tied: &RemapInput,
) -> Result<Option<Arc<Hierarchy>>, anyhow::Error> {
    let in_memory = registry
        .hierarchy
        .current()
        .filter(|delegated| delegated.hierarchy().generation() != new.generation());
    if let Some(delegated) = in_memory {
        return Ok(Some(Arc::clone(delegated.hierarchy())));
    }
    let is_remapped = generations::is_remapped(&registry.store, new.generation()).await?;
    if tied.fits(new, is_remapped) {
        return Ok(None);
    }
    let Some(retired) = generations::retired(&registry.store).await? else { return Ok(None) };
    let Some(read) = generations::read(&registry.store, retired).await? else { return Ok(None) };
    let (retired, _) = complete(&registry.store, Arc::new(read)).await?;
    Ok(Some(retired))
}

async fn note(
    registry: &RegistryData,
    new: &Hierarchy,
    action: &str,
    detail: Value,
) -> Result<(), StoreError> {
    let subject = format!("generation {}", new.generation());
    let entry = audit::Entry::new("coordinator", action, subject, detail);
    audit::write(&registry.store, &entry, registry.clock.now()).await
}

fn counts(count: impl Fn(RangeChange) -> u64) -> Value {
    RangeChange::ALL
        .iter()
        .map(|change| (change.as_str().to_owned(), Value::from(count(*change))))
        .collect()
}

fn delegations_detail(remapped: &[Remapping<DelegationId>], counted: &RemapCounts) -> Value {
    let moves: Vec<_> =
        remapped.iter().filter(|one| !one.stays()).take(NAMED).map(moved_delegation).collect();
    let counts = counts(|change| counted.count(change));
    json!({ "counts": counts, "yielded": counted.yielded, "moves": moves })
}

/// The audit detail about open searches; `None` if all stay.
fn searches_detail(remapped: &[SearchRemapping<SearchId>]) -> Option<Value> {
    let moved: Vec<_> = remapped.iter().filter(|one| !one.stays()).collect();
    let count = |change| remapped.iter().filter(|one| one.change == change).count() as u64;
    let ended = moved.iter().filter(|one| one.redundant).count();
    let named: Vec<_> = moved.iter().take(NAMED).map(|one| moved_search(one)).collect();
    (!moved.is_empty()).then(|| json!({ "counts": counts(count), "ended": ended, "moves": named }))
}

fn moved_search(one: &SearchRemapping<SearchId>) -> Value {
    json!({
        "search": one.search.key.to_string(),
        "from": one.search.range.to_string(),
        "why": one.change.as_str(),
        "to": (!one.redundant).then(|| one.subnet.to_string()),
    })
}

fn moved_delegation(one: &Remapping<DelegationId>) -> Value {
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

    fn remapped(change: RangeChange, subnet: &str, redundant: bool) -> SearchRemapping<SearchId> {
        let range = "198.51.100.0/24".parse().unwrap();
        let target = "198.51.100.7".parse().unwrap();
        let search = SearchClaim { key: SearchId::new(3), range, target };
        SearchRemapping { search, change, subnet: subnet.parse().unwrap(), redundant }
    }

    #[test]
    fn searches_that_move_are_named_and_those_that_stay_are_counted() {
        assert_eq!(searches_detail(&[remapped(RangeChange::Same, "198.51.100.0/24", false)]), None);
        let some = [
            remapped(RangeChange::Same, "198.51.100.0/24", false),
            remapped(RangeChange::Split, "198.51.100.0/25", false),
            remapped(RangeChange::Vanished, "198.51.0.0/16", true),
        ];
        let move_of = |why: &str, to: Option<&str>| {
            let from = "198.51.100.0/24";
            json!({ "search": "sch_3", "from": from, "why": why, "to": to })
        };
        let expected = json!({
            "counts": { "same": 1, "transferred": 0, "split": 1, "merged": 0, "vanished": 1 },
            "ended": 1,
            "moves": [move_of("split", Some("198.51.100.0/25")), move_of("vanished", None)],
        });
        assert_eq!(searches_detail(&some), Some(expected));
    }
}
