//! The predictive search, run on a draw through the same code that the coordinator runs.

use delegation::predictor::{Clusters, Landmark, Predictor, Prior, next_step};
use delegation::{Availability, DelegationTable, Policy, Search};

use crate::replay::outcome::Decision;
use crate::replay::walk::walk;
use crate::{Crawler, Draw, Site};

/// Decisions, and how many probes the landmarks took.
pub(crate) fn run<'d>(draw: &'d Draw<'_>, min_probability: f64) -> (Vec<Decision<'d>>, usize) {
    let hierarchy = &draw.ground.hierarchy;
    let clusters = survey(draw);
    let mut prior = Prior::from_landmarks(hierarchy, &clusters);
    let roster = draw.crawlers.iter().map(|crawler| (crawler.agent, Availability::Ready)).collect();
    let (delegation_table, policy) = (DelegationTable::default(), Policy::default());
    let mut decisions = Vec::new();
    for site in &draw.sites {
        let predictor = Predictor { clusters: &clusters, prior: &prior, min_probability };
        let mut probabilities = None;
        let next = |search: &Search<'_>| {
            let (step, posterior) =
                next_step(hierarchy, &delegation_table, &roster, &policy, &predictor, search);
            probabilities = posterior.map(|posterior| posterior.probabilities());
            step
        };
        let Some((crawler, _, trail)) = walk(draw, *site, next) else { continue };
        if let Some(probabilities) = probabilities {
            prior.add_observation(hierarchy, site.subnet, &probabilities);
        }
        decisions.push(Decision { site: *site, crawler, probes: trail.len() });
    }
    (decisions, draw.landmarks.len() * draw.crawlers.len())
}

/// What the landmarks of a draw say.
pub(crate) fn survey(draw: &Draw<'_>) -> Clusters {
    let landmarks: Vec<Landmark> = draw.landmarks.iter().map(|site| measure(draw, *site)).collect();
    Clusters::fit(&landmarks)
}

fn measure(draw: &Draw<'_>, site: Site) -> Landmark {
    let time = |crawler: &Crawler| (crawler.agent, draw.probe_ms(crawler, site));
    Landmark { subnet: site.subnet, times_ms: draw.crawlers.iter().map(time).collect() }
}
