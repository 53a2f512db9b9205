//! One search from its first step to its decision, with probes answered by the draw.

use delegation::{ProbeOutcome, Search, Step, TrailProbe};
use model::Reason;

use crate::{Crawler, Draw, Site};

/// Asks `next` for one step after the other; `None` when it ends without a decision.
pub(crate) fn walk<'d>(
    draw: &'d Draw<'_>,
    site: Site,
    mut next: impl FnMut(&Search<'_>) -> Step,
) -> Option<(&'d Crawler, Reason, Vec<TrailProbe>)> {
    let mut trail: Vec<TrailProbe> = Vec::new();
    loop {
        match next(&searched(site, &trail)) {
            Step::Ask(candidate) => {
                let rtt_ms = draw.probe_ms(draw.crawler(candidate.agent), site);
                let outcome = ProbeOutcome::Measured { rtt_us: (rtt_ms * 1000.0) as u32 };
                trail.push(TrailProbe { agent: candidate.agent, phase: candidate.phase, outcome });
            }
            Step::Decide { agent, reason, .. } => {
                return Some((draw.crawler(agent), reason, trail));
            }
            Step::Wait | Step::NoAnswer | Step::NoAgents => return None,
        }
    }
}

/// A search with this trail.
pub(crate) fn searched(site: Site, trail: &[TrailProbe]) -> Search<'_> {
    Search { subnet: site.subnet, trail, provisional: None, waited_ms: 0 }
}
