//! One search from its first step to its decision.

use delegation::{ProbeOutcome, Search, Step, TrailProbe};
use model::Reason;

use crate::{PlacedAgent, Scenario, Site};

/// Asks `next` for one step after the other; `None` when it ends without a decision. `reported_ms`
/// is the round trip that an agent reports.
pub(crate) fn simulate<'d>(
    scenario: &'d Scenario<'_>,
    site: Site,
    reported_ms: impl Fn(&PlacedAgent) -> f64,
    mut next: impl FnMut(&Search<'_>) -> Step,
) -> Option<(&'d PlacedAgent, Reason, Vec<TrailProbe>)> {
    let mut trail: Vec<TrailProbe> = Vec::new();
    loop {
        match next(&search_with(site, &trail)) {
            Step::Ask(candidate) => {
                let rtt_us = (reported_ms(scenario.agent(candidate.agent)) * 1000.0) as u32;
                let outcome = ProbeOutcome::Measured { rtt_us };
                trail.push(TrailProbe { agent: candidate.agent, phase: candidate.phase, outcome });
            }
            Step::Decide { agent, reason, .. } => {
                return Some((scenario.agent(agent), reason, trail));
            }
            Step::Wait | Step::NoAnswer | Step::NoAgents => return None,
        }
    }
}

/// A search with this trail.
pub(crate) fn search_with(site: Site, trail: &[TrailProbe]) -> Search<'_> {
    Search { subnet: site.subnet, trail, provisional: None, holder: None, waited_ms: 0 }
}
