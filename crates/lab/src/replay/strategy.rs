//! Strategies that are compared, and the replay of each.

use super::baselines::{random, ubicrawler};
use super::paper_searches::PaperSearches;
use super::place_searches::PlaceSearches;
use super::searches::Searches;
use super::tally::Tally;
use crate::{Claims, ReplayMark, Scenario};

/// How subnets are delegated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Strategy {
    /// The paper's search with this threshold in milliseconds.
    Threshold {
        /// Round trip that is good enough to stop.
        threshold_ms: f64,
    },
    /// The coordinator's search by places, which learns from the trails of searches.
    Predictive(Claims),
    /// An agent drawn uniformly.
    Random,
    /// Consistent hashing of the host, as UbiCrawler does: no distances.
    Ubicrawler,
    /// Every agent probes every subnet, the fastest gets it (the paper's section II).
    AllProbe,
}

/// Delegates the scenario's subnets one after the other. The marks are at 100, 300, 1,000, … and at
/// the last subnet; there are none when the predictive search knows nothing of the agents.
pub fn replay(scenario: &Scenario<'_>, strategy: Strategy) -> Vec<ReplayMark> {
    match strategy {
        Strategy::Threshold { threshold_ms } => {
            run(scenario, PaperSearches::new(scenario, threshold_ms))
        }
        Strategy::Predictive(claims) => PlaceSearches::new(scenario, claims)
            .map_or_else(Vec::new, |searches| run(scenario, searches)),
        Strategy::Random => run(scenario, random(scenario)),
        Strategy::Ubicrawler => run(scenario, ubicrawler(scenario)),
        Strategy::AllProbe => run(scenario, PaperSearches::new(scenario, 0.0)),
    }
}

fn run<'d>(scenario: &'d Scenario<'_>, mut searches: impl Searches<'d>) -> Vec<ReplayMark> {
    let mut tally = Tally::new(scenario, searches.home_probes());
    for site in &scenario.sites {
        if let Some(decided) = searches.delegate(*site) {
            tally.add(*site, &decided);
        }
    }
    tally.finish()
}
