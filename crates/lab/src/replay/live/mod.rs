//! Live replay: the delegation of new subnets as a coordinator does it that starts with nothing.
//!
//! Landmarks, mutual measurements of agents and searches follow the coordinator's own rules, and
//! every probe counts. [`replay_live`] gives the figures after some hundreds, thousands and ten
//! thousands of subnets.

mod budget;
mod landmark_searches;
mod paper_searches;
mod place_searches;
mod tally;

use landmark_searches::LandmarkSearches;
use paper_searches::PaperSearches;
use place_searches::PlaceSearches;

use crate::{PlacedAgent, Scenario, Site};

pub use place_searches::Claims;
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
    /// Clusters of landmarks that all agents measure.
    Landmarks,
    /// Places, learned from the trails of searches.
    Places(Claims),
    /// Every agent probes every subnet.
    AllProbe,
}

/// A decision with its probes.
struct Decided<'d> {
    agent: &'d PlacedAgent,
    probes: usize,
}

/// Probes outside of searches.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct OtherProbes {
    landmarks: u64,
    /// Agents that measured each other.
    agents: u64,
}

/// What a live replay runs: one search after the other, with everything that a coordinator does in
/// between.
trait Searches<'d> {
    /// Delegates a subnet; `None` when the search ends without a decision.
    fn delegate(&mut self, site: Site) -> Option<Decided<'d>>;

    /// Probes outside of searches so far.
    fn other_probes(&self) -> OtherProbes;
}

/// Delegates the scenario's subnets one after the other. The points are at 100, 300, 1,000, … and
/// at the last subnet.
pub fn replay_live(scenario: &Scenario<'_>, strategy: LiveStrategy) -> Vec<LivePoint> {
    match strategy {
        LiveStrategy::Threshold { threshold_ms } => {
            run(scenario, PaperSearches::new(scenario, threshold_ms))
        }
        LiveStrategy::AllProbe => run(scenario, PaperSearches::new(scenario, 0.0)),
        LiveStrategy::Landmarks => run(scenario, LandmarkSearches::new(scenario)),
        LiveStrategy::Places(claims) => PlaceSearches::new(scenario, claims)
            .map_or_else(Vec::new, |searches| run(scenario, searches)),
    }
}

fn run<'d>(scenario: &'d Scenario<'_>, mut searches: impl Searches<'d>) -> Vec<LivePoint> {
    let mut tally = Tally::default();
    for site in &scenario.sites {
        if let Some(decided) = searches.delegate(*site) {
            tally.add(scenario, *site, &decided, searches.other_probes());
        }
    }
    tally.finish()
}
