//! Baselines of the comparison: assignments without distances, and probes by all agents.

use crate::replay::outcome::Decision;
use crate::{PlacedAgent, Scenario, Site};

/// Keys of streams of random numbers that no scenario uses.
const DEAL: u64 = 101;
const RING: u64 = 102;
/// Points of an agent on the circle; 200 is UbiCrawler's larger choice.
const REPLICAS: u64 = 200;

pub(crate) fn random<'d>(scenario: &'d Scenario<'_>) -> Vec<Decision<'d>> {
    let assignments = |site: Site| {
        let place = scenario.noise().uniform(&[DEAL, u64::from(site.subnet.get())])
            * scenario.agents.len() as f64;
        scenario.agents.get(place as usize)
    };
    decide(scenario, 0, assignments)
}

/// UbiCrawler section 4: replicas on a circle, a host belongs to the nearest point after its own.
pub(crate) fn ubicrawler<'d>(scenario: &'d Scenario<'_>) -> Vec<Decision<'d>> {
    let points = |agent: &'d PlacedAgent| {
        let at = move |replica| scenario.noise().hash(&[RING, agent.agent.get() as u64, replica]);
        (0..REPLICAS).map(move |replica| (at(replica), agent))
    };
    let mut circle: Vec<(u64, &PlacedAgent)> = scenario.agents.iter().flat_map(points).collect();
    circle.sort_by_key(|(point, _)| *point);
    let owner = |site: Site| {
        let host = scenario.noise().hash(&[RING, u64::from(site.subnet.get())]);
        let after = circle.partition_point(|(point, _)| *point < host);
        circle.get(after).or(circle.first()).map(|(_, agent)| *agent)
    };
    decide(scenario, 0, owner)
}

pub(crate) fn all_probe<'d>(scenario: &'d Scenario<'_>) -> Vec<Decision<'d>> {
    let fastest = |site: Site| {
        let time = |agent: &PlacedAgent| scenario.probe_ms(agent, site);
        scenario.agents.iter().min_by(|a, b| time(a).total_cmp(&time(b)))
    };
    decide(scenario, scenario.agents.len(), fastest)
}

fn decide<'d>(
    scenario: &Scenario<'_>,
    probes: usize,
    chosen: impl Fn(Site) -> Option<&'d PlacedAgent>,
) -> Vec<Decision<'d>> {
    let sites = scenario.sites.iter();
    sites.filter_map(|site| Some(Decision { site: *site, agent: chosen(*site)?, probes })).collect()
}
