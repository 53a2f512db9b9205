//! The paper's search, run on a draw through the same code that the coordinator runs.

use delegation::{Availability, Delegation, Policy, Search, next_step};

use crate::Draw;
use crate::replay::outcome::Decision;
use crate::replay::walk::walk;

pub(crate) fn run<'d>(draw: &'d Draw<'_>, threshold_ms: f64) -> Vec<Decision<'d>> {
    let policy = Policy { threshold_us: (threshold_ms * 1000.0) as u32, ..Policy::default() };
    let roster = draw.crawlers.iter().map(|crawler| (crawler.agent, Availability::Ready)).collect();
    let (hierarchy, mut delegation_table) = (&draw.ground.hierarchy, draw.delegation_table());
    let mut decisions = Vec::new();
    for site in &draw.sites {
        let next =
            |search: &Search<'_>| next_step(hierarchy, &delegation_table, &roster, &policy, search);
        let Some((crawler, reason, trail)) = walk(draw, *site, next) else { continue };
        delegation_table.insert(
            hierarchy,
            site.subnet,
            Delegation { agent: crawler.agent, reason },
        );
        decisions.push(Decision { site: *site, crawler, probes: trail.len() });
    }
    decisions
}
