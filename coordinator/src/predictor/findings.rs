//! Subnets that the model of one place does not fit, told.

use std::collections::BTreeMap;
use std::net::IpAddr;

use delegation::predictor::virtual_subnets::{
    AddressTimes, can_be_split, may_be_one_location, split,
};
use hierarchy::{Range, SubnetSplit};
use model::{AgentId, SearchId};
use store::searches::{self, OpenSearch, Sighted};
use store::{StoreError, round_trips, subnet_splits};

use crate::predictor::Lesson;
use crate::predictor::Predictor;
use crate::runtime::events::Event;

/// What the probes of a search showed besides the nearest agent.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Finding {
    /// As `searches.finding` has it.
    word: &'static str,
    /// The measurements that show it, as one sentence.
    detail: String,
}

/// Looks for oddities of the subnets of searches that were decided, and writes down those it finds.
pub async fn findings(
    predictor: &Predictor,
    decided: &[(&OpenSearch, &Lesson)],
) -> Result<(), StoreError> {
    let searches: Vec<&OpenSearch> = decided.iter().map(|(search, _)| *search).collect();
    let others = searches::sightings(&predictor.store, &searches).await?;
    for (search, lesson) in decided {
        let seen = AddressTimes { address: search.target, times_ms: lesson.times_ms.clone() };
        let others = by_address(others.get(&search.id).into_iter().flatten().map(seen_at));
        if let Some(pair) = predictor.insight.detect_anycast(lesson) {
            note(predictor, search, &near_both(pair, &lesson.times_ms)).await?;
        } else if let Some(finding) = elsewhere(&seen, &others) {
            note(predictor, search, &finding).await?;
            note_cut(predictor, search, [others, vec![seen]].concat()).await?;
        }
    }
    Ok(())
}

async fn note(
    predictor: &Predictor,
    search: &OpenSearch,
    found: &Finding,
) -> Result<(), StoreError> {
    searches::note_finding(&predictor.store, search.id, found.word, &found.detail).await
}

/// Where the addresses of a subnet disagree it is to be cut, if it is large enough.
async fn note_cut(
    predictor: &Predictor,
    search: &OpenSearch,
    sightings: Vec<AddressTimes>,
) -> Result<(), StoreError> {
    let parts = split(search.subnet, &sightings);
    note_parts(predictor, search.subnet, parts, Some(search.id)).await
}

async fn note_parts(
    predictor: &Predictor,
    whole: Range,
    parts: Vec<Range>,
    search: Option<SearchId>,
) -> Result<(), StoreError> {
    if parts.len() > 1 {
        subnet_splits::note(
            &predictor.store,
            &SubnetSplit { whole, parts },
            search,
            predictor.clock.now(),
        )
        .await?;
        predictor.events.emit(Event::SplitProposed);
    }
    Ok(())
}

/// Notes how these subnets are to be cut, where the round trips of fetches from their addresses say
/// that they are not in one place.
pub async fn cut_apart(predictor: &Predictor, subnets: &[Range]) -> Result<(), StoreError> {
    let large: Vec<Range> = subnets.iter().copied().filter(can_be_split).collect();
    if large.is_empty() {
        return Ok(());
    }
    for (subnet, told) in round_trips::confirmed(&predictor.store, &large).await? {
        let times = told.iter().map(|one| (one.address, one.agent, one.rtt_us));
        note_parts(predictor, subnet, split(subnet, &by_address(times)), None).await?;
    }
    Ok(())
}

fn near_both((a, b): (AgentId, AgentId), times_ms: &[(AgentId, f64)]) -> Finding {
    let time = |agent: AgentId| {
        let time = times_ms.iter().find(|(other, _)| *other == agent);
        time.map_or_else(String::new, |(_, ms)| format!("{ms:.1} ms from {agent}"))
    };
    let detail = format!(
        "{} and {}, though these two are far from each other: the address answers in several clusters (anycast)",
        time(a),
        time(b)
    );
    Finding { word: "everywhere", detail }
}

fn seen_at(sighted: &Sighted) -> (IpAddr, AgentId, u32) {
    (sighted.address, sighted.agent, sighted.rtt_us)
}

fn by_address(times_us: impl IntoIterator<Item = (IpAddr, AgentId, u32)>) -> Vec<AddressTimes> {
    let mut by_address: BTreeMap<IpAddr, Vec<(AgentId, f64)>> = BTreeMap::new();
    for (address, agent, rtt_us) in times_us {
        by_address.entry(address).or_default().push((agent, f64::from(rtt_us) / 1000.0));
    }
    by_address.into_iter().map(|(address, times_ms)| AddressTimes { address, times_ms }).collect()
}

/// Another address of the subnet that cannot be where `seen` is.
fn elsewhere(seen: &AddressTimes, others: &[AddressTimes]) -> Option<Finding> {
    let other = others.iter().find(|other| !may_be_one_location(seen, other))?;
    let detail = format!(
        "{} and {} cannot be in one place: {}",
        seen.address,
        other.address,
        differences(seen, other)
    );
    Some(Finding { word: "several_places", detail })
}

/// "12.0 against 180.3 ms from agt_1, …"
fn differences(a: &AddressTimes, b: &AddressTimes) -> String {
    let both = a.times_ms.iter().filter_map(|(agent, a_ms)| {
        let (_, b_ms) = b.times_ms.iter().find(|(other, _)| other == agent)?;
        Some(format!("{a_ms:.1} against {b_ms:.1} ms from {agent}"))
    });
    both.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sighted(address: &str, agent: i64, rtt_us: u32) -> Sighted {
        Sighted { address: address.parse().unwrap(), agent: AgentId::new(agent), rtt_us }
    }

    #[test]
    fn two_addresses_that_cannot_be_in_one_place_are_told() {
        let seen = AddressTimes {
            address: "198.51.100.7".parse().unwrap(),
            times_ms: vec![(AgentId::new(1), 10.0), (AgentId::new(2), 150.0)],
        };
        let near = [sighted("198.51.100.9", 1, 14_000), sighted("198.51.100.9", 2, 153_000)];
        assert_eq!(elsewhere(&seen, &by_address(near.iter().map(seen_at))), None);
        let far = [sighted("198.51.100.9", 1, 140_000), sighted("198.51.100.9", 2, 12_000)];
        let found = elsewhere(&seen, &by_address(far.iter().map(seen_at))).unwrap();
        assert_eq!(found.word, "several_places");
        insta::assert_snapshot!(found.detail, @"198.51.100.7 and 198.51.100.9 cannot be in one place: 10.0 against 140.0 ms from agt_1, 150.0 against 12.0 ms from agt_2");
    }
}
