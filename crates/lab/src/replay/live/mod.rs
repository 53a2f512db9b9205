//! Live replay: the delegation of new subnets as a coordinator does it that starts with nothing.
//!
//! Measurements of home addresses and searches follow the coordinator's own rules, and every probe
//! counts. [`replay_live`] gives the figures after some hundreds, thousands and ten
//! thousands of subnets.

mod budget;
mod paper_searches;
mod place_searches;
mod tally;

use paper_searches::PaperSearches;
use place_searches::PlaceSearches;

use crate::{PlacedAgent, Scenario, Site};

pub use place_searches::Claims;
pub(crate) use place_searches::{claim, mapped_model, measured_ms};
use tally::Tally;
pub use tally::{LiveFigures, LivePoint, mean_of_points};

/// How a live replay delegates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LiveStrategy {
    /// The paper's search with this threshold in milliseconds.
    Threshold {
        /// Round trip that is good enough to stop.
        threshold_ms: f64,
    },
    /// Places, learned from the trails of searches.
    Places(Claims),
    /// Every agent probes every subnet.
    AllProbe,
}

/// A decision with its probes.
struct DecidedSearch<'d> {
    agent: &'d PlacedAgent,
    probes: usize,
}

/// What a live replay runs: one search after the other, with everything that a coordinator does in
/// between.
trait Searches<'d> {
    /// Delegates a subnet; `None` when the search ends without a decision.
    fn delegate(&mut self, site: Site) -> Option<DecidedSearch<'d>>;

    /// Probes of the agents' homes by each other at joining. All of them are repeated weekly.
    fn home_probes(&self) -> u64;
}

/// Delegates the scenario's subnets one after the other. The points are at 100, 300, 1,000, … and
/// at the last subnet.
pub fn replay_live(scenario: &Scenario<'_>, strategy: LiveStrategy) -> Vec<LivePoint> {
    match strategy {
        LiveStrategy::Threshold { threshold_ms } => {
            run(scenario, PaperSearches::new(scenario, threshold_ms))
        }
        LiveStrategy::AllProbe => run(scenario, PaperSearches::new(scenario, 0.0)),
        LiveStrategy::Places(claims) => PlaceSearches::new(scenario, claims)
            .map_or_else(Vec::new, |searches| run(scenario, searches)),
    }
}

fn run<'d>(scenario: &'d Scenario<'_>, mut searches: impl Searches<'d>) -> Vec<LivePoint> {
    let mut tally = Tally::default();
    for site in &scenario.sites {
        if let Some(decided) = searches.delegate(*site) {
            tally.add(scenario, *site, &decided, searches.home_probes());
        }
    }
    tally.finish()
}
