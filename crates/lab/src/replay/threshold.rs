//! The paper's search, run on a scenario through the same code that the coordinator runs.

use delegation::{Availability, Delegation, Policy, Search, next_step};

use crate::Scenario;
use crate::replay::outcome::Decision;
use crate::replay::simulated_search::simulate;

pub(crate) fn run<'d>(scenario: &'d Scenario<'_>, threshold_ms: f64) -> Vec<Decision<'d>> {
    let policy = Policy { threshold_us: (threshold_ms * 1000.0) as u32, ..Policy::default() };
    let available =
        scenario.agents.iter().map(|agent| (agent.agent, Availability::Ready)).collect();
    let hierarchy = &scenario.topology.hierarchy;
    let mut delegation_table = scenario.delegation_table();
    let mut decisions = Vec::new();
    for site in &scenario.sites {
        let next = |search: &Search<'_>| {
            next_step(hierarchy, &delegation_table, &available, &policy, search)
        };
        let Some((agent, reason, trail)) = simulate(scenario, *site, next) else { continue };
        delegation_table.insert(hierarchy, site.subnet, Delegation { agent: agent.agent, reason });
        decisions.push(Decision { site: *site, agent, probes: trail.len() });
    }
    decisions
}
