//! Baselines of the comparison: assignments without distances, which ask no agent.

use super::searches::{DecidedSearch, Searches};
use crate::{PlacedAgent, Scenario, Site};

/// Keys of streams of random numbers that no scenario uses.
const DEAL: u64 = 101;
const RING: u64 = 102;
/// Points of an agent on the circle; 200 is UbiCrawler's larger choice.
const REPLICAS: u64 = 200;

impl<'d, Assignment: Fn(Site) -> Option<&'d PlacedAgent>> Searches<'d> for Assignment {
    fn delegate(&mut self, site: Site) -> Option<DecidedSearch<'d>> {
        Some(DecidedSearch { agent: self(site)?, probes: 0 })
    }
}

pub(super) fn random<'d>(scenario: &'d Scenario<'_>) -> impl Fn(Site) -> Option<&'d PlacedAgent> {
    |site| {
        let place = scenario.noise().uniform(&[DEAL, u64::from(site.subnet.get())])
            * scenario.agents.len() as f64;
        scenario.agents.get(place as usize)
    }
}

/// UbiCrawler section 4: replicas on a circle, a host belongs to the nearest point after its own.
pub(super) fn ubicrawler<'d>(
    scenario: &'d Scenario<'_>,
) -> impl Fn(Site) -> Option<&'d PlacedAgent> {
    let points = |agent: &'d PlacedAgent| {
        let at = move |replica| scenario.noise().hash(&[RING, agent.agent.get() as u64, replica]);
        (0..REPLICAS).map(move |replica| (at(replica), agent))
    };
    let mut circle: Vec<(u64, &PlacedAgent)> = scenario.agents.iter().flat_map(points).collect();
    circle.sort_by_key(|(point, _)| *point);
    move |site| {
        let host = scenario.noise().hash(&[RING, u64::from(site.subnet.get())]);
        let after = circle.partition_point(|(point, _)| *point < host);
        circle.get(after).or(circle.first()).map(|(_, agent)| *agent)
    }
}
