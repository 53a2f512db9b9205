//! Findings: subnets that do not fit the assumption that all their addresses are in one place.

use std::collections::BTreeMap;
use std::net::IpAddr;

use delegation::virtual_subnets::{AddressTimes, can_be_split, may_be_one_location, split};
use hierarchy::{Hierarchy, Range, SubnetSplit};
use model::{AgentId, SearchId};
use store::round_trips::{Neighbours, RoundTrip, SubnetRoundTrip};
use store::searches::{self, OpenSearch};
use store::{StoreError, round_trips, subnet_splits};

use crate::predictor::Predictor;
use crate::predictor::observation::{Observation, millis};
use crate::runtime::events::Event;

/// Values of `searches.finding`.
const ANYCAST: &str = "everywhere";
const SEVERAL_PLACES: &str = "several_places";

/// Checks the subnets of decided searches, and stores a finding where one is anycast or in several
/// places. The latter are also proposed to be split.
pub async fn store_findings(
    predictor: &Predictor,
    hierarchy: &Hierarchy,
    decided: &[(&OpenSearch, &Observation)],
) -> Result<(), StoreError> {
    let store = &predictor.store;
    let searches: Vec<&OpenSearch> = decided.iter().map(|(search, _)| *search).collect();
    let earlier = searches::times_at_other_addresses(store, &searches).await?;
    for (search, observation) in decided {
        // Anycast comes first: its address is near to agents everywhere, which would look like
        // several places to the comparison below.
        if let Some(agents) = predictor.state.detect_anycast(hierarchy, observation) {
            let detail = describe_anycast(agents, &observation.times_ms);
            searches::note_finding(store, search.id, ANYCAST, &detail).await?;
            continue;
        }
        let times_ms = observation.times_ms.clone();
        let seen = AddressTimes { address: search.target, times_ms };
        let mut addresses = by_address(earlier.get(&search.id).into_iter().flatten().map(time));
        if let Some(detail) = find_other_location(&seen, &addresses) {
            searches::note_finding(store, search.id, SEVERAL_PLACES, &detail).await?;
            addresses.push(seen);
            let parts = split(search.subnet, &addresses);
            propose_split(predictor, search.subnet, parts, Some(search.id)).await?;
        }
    }
    Ok(())
}

/// Proposes to split those of the subnets in which the round trips of fetches differ too much for
/// one place.
pub async fn propose_splits(
    predictor: &Predictor,
    round_trips: &[SubnetRoundTrip],
) -> Result<(), StoreError> {
    let now = predictor.clock.now();
    for SubnetRoundTrip { subnet, confirmed, .. } in round_trips {
        if !can_be_split(subnet) {
            continue;
        }
        for address in confirmed {
            let near =
                round_trips::confirmed_around(&predictor.store, subnet, *address, now).await?;
            if let Some(parts) = parts_shown(*subnet, &near) {
                propose_split(predictor, *subnet, parts, None).await?;
            }
            if near.is_all {
                break;
            }
        }
    }
    Ok(())
}

/// The parts of a subnet that round trips show; a single one where they show one place. The
/// neighbours of one address do not show that of all addresses.
fn parts_shown(subnet: Range, near: &Neighbours) -> Option<Vec<Range>> {
    let parts = split(subnet, &by_address(near.round_trips.iter().map(time)));
    (parts.len() > 1 || near.is_all).then_some(parts)
}

/// Stores the parts for the task `split_subnets`. A single part means that nothing is to be split,
/// also if fetches said so before.
async fn propose_split(
    predictor: &Predictor,
    whole: Range,
    parts: Vec<Range>,
    search: Option<SearchId>,
) -> Result<(), StoreError> {
    if parts.len() > 1 {
        let split = SubnetSplit { whole, parts };
        subnet_splits::note(&predictor.store, &split, search, predictor.clock.now()).await?;
        predictor.events.emit(Event::SplitProposed);
    } else if search.is_none() {
        subnet_splits::withdraw(&predictor.store, &whole).await?;
    }
    Ok(())
}

fn describe_anycast((a, b): (AgentId, AgentId), times_ms: &[(AgentId, f64)]) -> String {
    let time = |agent: AgentId| {
        let time = times_ms.iter().find(|(other, _)| *other == agent);
        time.map_or_else(String::new, |(_, ms)| format!("{ms:.1} ms from {agent}"))
    };
    format!(
        "{} and {}, though these two are far from each other: the address answers in several \
         places (anycast)",
        time(a),
        time(b)
    )
}

fn time(round_trip: &RoundTrip) -> (IpAddr, AgentId, u32) {
    (round_trip.address, round_trip.agent, round_trip.rtt_us)
}

fn by_address(times_us: impl IntoIterator<Item = (IpAddr, AgentId, u32)>) -> Vec<AddressTimes> {
    let mut by_address: BTreeMap<IpAddr, Vec<(AgentId, f64)>> = BTreeMap::new();
    for (address, agent, rtt_us) in times_us {
        by_address.entry(address).or_default().push((agent, millis(rtt_us)));
    }
    by_address.into_iter().map(|(address, times_ms)| AddressTimes { address, times_ms }).collect()
}

/// Describes an address of the subnet that cannot be where `seen` is, such as "… cannot be in one
/// place: 12.0 against 180.3 ms from agt_1"; `None` when there is none.
fn find_other_location(seen: &AddressTimes, others: &[AddressTimes]) -> Option<String> {
    let other = others.iter().find(|other| !may_be_one_location(seen, other))?;
    let common = seen.times_ms.iter().filter_map(|(agent, ms)| {
        let (_, other_ms) = other.times_ms.iter().find(|(asked, _)| asked == agent)?;
        Some(format!("{ms:.1} against {other_ms:.1} ms from {agent}"))
    });
    let differences = common.collect::<Vec<_>>().join(", ");
    Some(format!("{} and {} cannot be in one place: {differences}", seen.address, other.address))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip(address: &str, agent: i64, rtt_us: u32) -> RoundTrip {
        RoundTrip { address: address.parse().unwrap(), agent: AgentId::new(agent), rtt_us }
    }

    #[test]
    fn two_addresses_that_cannot_be_in_one_place_are_described() {
        let seen = AddressTimes {
            address: "198.51.100.7".parse().unwrap(),
            times_ms: vec![(AgentId::new(1), 10.0), (AgentId::new(2), 150.0)],
        };
        let near = [round_trip("198.51.100.9", 1, 14_000), round_trip("198.51.100.9", 2, 153_000)];
        assert_eq!(find_other_location(&seen, &by_address(near.iter().map(time))), None);
        let far = [round_trip("198.51.100.9", 1, 140_000), round_trip("198.51.100.9", 2, 12_000)];
        let detail = find_other_location(&seen, &by_address(far.iter().map(time))).unwrap();
        assert_eq!(
            detail,
            "198.51.100.7 and 198.51.100.9 cannot be in one place: 10.0 against 140.0 ms from \
             agt_1, 150.0 against 12.0 ms from agt_2"
        );
    }

    #[test]
    fn neighbours_withdraw_no_split_of_a_subnet_that_has_more_addresses() {
        let subnet: Range = "198.18.0.0/16".parse().unwrap();
        let near = round_trip("198.18.0.1", 1, 5_000);
        let far = round_trip("198.18.200.1", 1, 180_000);
        let shown = |round_trips: &[RoundTrip], is_all| {
            let near = Neighbours { round_trips: round_trips.to_vec(), is_all };
            parts_shown(subnet, &near).map(|parts| parts.len())
        };
        assert_eq!(shown(&[near], true), Some(1));
        assert_eq!(shown(&[near], false), None);
        assert_eq!([true, false].map(|is_all| shown(&[near, far], is_all)), [Some(2); 2]);
    }
}
