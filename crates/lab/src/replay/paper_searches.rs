//! The paper's search.

use delegation::{Delegation, DelegationTable, Search, next_step};
use model::Policy;

use super::budget::DailyBudget;
use super::searches::{DecidedSearch, Searches};
use super::simulated_search::simulate;
use crate::{PlacedAgent, Scenario, Site};

pub(super) struct PaperSearches<'d> {
    scenario: &'d Scenario<'d>,
    table: DelegationTable,
    policy: Policy,
    budget: DailyBudget,
}

impl<'d> PaperSearches<'d> {
    pub(super) fn new(scenario: &'d Scenario<'d>, threshold_ms: f64) -> Self {
        let policy = Policy { threshold_us: (threshold_ms * 1000.0) as u32, ..Policy::default() };
        let table = scenario.delegation_table();
        Self { scenario, table, policy, budget: DailyBudget::default() }
    }
}

impl<'d> Searches<'d> for PaperSearches<'d> {
    fn delegate(&mut self, site: Site) -> Option<DecidedSearch<'d>> {
        let hierarchy = &self.scenario.topology.hierarchy;
        let next = |search: &Search<'_>| {
            self.budget.step(&self.scenario.agents, &self.policy, search, |agents| {
                next_step(hierarchy, &self.table, agents, &self.policy, search)
            })
        };
        let rtt_ms = |agent: &PlacedAgent| self.scenario.probe_ms(agent, site);
        let (agent, reason, trail) = simulate(self.scenario, site, rtt_ms, next)?;
        self.table.insert(hierarchy, site.subnet, Delegation { agent: agent.agent, reason });
        Some(DecidedSearch { agent, probes: trail.len() })
    }
}
