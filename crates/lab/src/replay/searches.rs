//! What a replay runs: one search after the other.

use crate::{PlacedAgent, Site};

/// A decision with its probes.
pub(super) struct DecidedSearch<'d> {
    pub(super) agent: &'d PlacedAgent,
    pub(super) probes: usize,
}

/// Searches of one strategy, with everything that a coordinator does in between.
pub(super) trait Searches<'d> {
    /// Delegates a subnet; `None` when the search ends without a decision.
    fn delegate(&mut self, site: Site) -> Option<DecidedSearch<'d>>;

    /// Probes of the agents' homes by each other at joining, before the first search. All of them
    /// are repeated weekly.
    fn home_probes(&self) -> u64 {
        0
    }
}
