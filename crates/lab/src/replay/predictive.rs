//! The predictive search, run on a scenario through the same code that the coordinator runs.

use delegation::predictor::{Clusters, Landmark, Predictor, Prior, next_step};
use delegation::{Availability, DelegationTable, Policy, Search};

use crate::replay::outcome::Decision;
use crate::replay::simulated_search::simulate;
use crate::{PlacedAgent, Scenario, Site};

/// Decisions, and the number of probes of landmarks.
pub(crate) fn run<'d>(
    scenario: &'d Scenario<'_>,
    min_probability: f64,
) -> (Vec<Decision<'d>>, usize) {
    let hierarchy = &scenario.topology.hierarchy;
    let clusters = fit_clusters(scenario);
    let mut prior = Prior::from_landmarks(hierarchy, &clusters);
    let available =
        scenario.agents.iter().map(|agent| (agent.agent, Availability::Ready)).collect();
    let delegation_table = DelegationTable::default();
    let policy = Policy::default();
    let mut decisions = Vec::new();
    for site in &scenario.sites {
        let predictor = Predictor { clusters: &clusters, prior: &prior, min_probability };
        let mut probabilities = None;
        let next = |search: &Search<'_>| {
            let (step, posterior) =
                next_step(hierarchy, &delegation_table, &available, &policy, &predictor, search);
            probabilities = posterior.map(|posterior| posterior.probabilities());
            step
        };
        let Some((agent, _, trail)) = simulate(scenario, *site, next) else { continue };
        if let Some(probabilities) = probabilities {
            prior.add_observation(hierarchy, site.subnet, &probabilities);
        }
        decisions.push(Decision { site: *site, agent, probes: trail.len() });
    }
    (decisions, scenario.landmarks.len() * scenario.agents.len())
}

/// The clusters fitted to the landmarks of a scenario.
pub(crate) fn fit_clusters(scenario: &Scenario<'_>) -> Clusters {
    let landmarks: Vec<Landmark> =
        scenario.landmarks.iter().map(|site| measure(scenario, *site)).collect();
    Clusters::fit(&landmarks)
}

fn measure(scenario: &Scenario<'_>, site: Site) -> Landmark {
    let time = |agent: &PlacedAgent| (agent.agent, scenario.probe_ms(agent, site));
    Landmark { subnet: site.subnet, times_ms: scenario.agents.iter().map(time).collect() }
}
