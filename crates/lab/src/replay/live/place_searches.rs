//! Prediction by places in a live replay.

use delegation::places::{
    AgentClaim, Levels, MutualTimes, PlaceModel, Position, map_agents, next_step,
};
use delegation::{Policy, ProbeOutcome, Search, TrailProbe};
use model::AgentId;

use super::budget::DailyBudget;
use super::{DecidedSearch, Searches};
use crate::replay::simulated_search::simulate;
use crate::{PlacedAgent, Scenario, Site};

/// Where the agents say they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claims {
    /// In their cities, with the positions of the list of cities corrected.
    Corrected,
    /// In their cities, with the positions of the list of cities as they are.
    AsListed,
    /// Nobody knows where the agents are.
    Unknown,
}

pub(super) struct PlaceSearches<'d> {
    scenario: &'d Scenario<'d>,
    model: PlaceModel,
    policy: Policy,
    budget: DailyBudget,
    mutual_probes: u64,
}

impl<'d> PlaceSearches<'d> {
    /// The agents measure each other as far as their places need it. `None` for less than two
    /// agents, which nothing is known of.
    pub(super) fn new(scenario: &'d Scenario<'d>, claims: Claims) -> Option<Self> {
        let mut budget = DailyBudget::default();
        let mut times = MutualTimes::default();
        let claims: Vec<AgentClaim> =
            scenario.agents.iter().map(|agent| claim(scenario, agent, claims)).collect();
        let map = loop {
            let mapped = map_agents(&claims, &times);
            if mapped.missing.is_empty() {
                break mapped.map;
            }
            measure(scenario, &mapped.missing, &mut times, &mut budget);
        };
        let model = map?.into_model();
        let mutual_probes = times.len() as u64;
        Some(Self { scenario, model, policy: Policy::default(), budget, mutual_probes })
    }
}

impl<'d> Searches<'d> for PlaceSearches<'d> {
    fn delegate(&mut self, site: Site) -> Option<DecidedSearch<'d>> {
        let hierarchy = &self.scenario.topology.hierarchy;
        let next = |search: &Search<'_>| {
            self.budget.step(&self.scenario.agents, &self.policy, search, |agents| {
                next_step(hierarchy, agents, &self.policy, &self.model, search).0
            })
        };
        let (agent, _, trail) = simulate(self.scenario, site, next)?;
        let times: Vec<(AgentId, f64)> = trail.iter().filter_map(measured_ms).collect();
        self.model.learn(Levels::of(hierarchy, site.subnet), &times);
        Some(DecidedSearch { agent, probes: trail.len() })
    }

    fn agent_probes(&self) -> u64 {
        self.mutual_probes
    }
}

/// The agent and the round trip of a probe, where one was measured.
pub(crate) fn measured_ms(probe: &TrailProbe) -> Option<(AgentId, f64)> {
    match probe.outcome {
        ProbeOutcome::Measured { rtt_us } => Some((probe.agent, f64::from(rtt_us) / 1000.0)),
        ProbeOutcome::Pending | ProbeOutcome::Unreachable | ProbeOutcome::Expired => None,
    }
}

/// The model before the first search, of agents that say where they are; `None` for less than two
/// agents without a position.
pub(crate) fn mapped_model(scenario: &Scenario<'_>) -> Option<PlaceModel> {
    PlaceSearches::new(scenario, Claims::Corrected).map(|searches| searches.model)
}

/// What an agent says of its place.
pub(crate) fn claim(scenario: &Scenario<'_>, agent: &PlacedAgent, claims: Claims) -> AgentClaim {
    let city = &scenario.topology.world.cities()[agent.city.get()];
    let degrees = match claims {
        Claims::Corrected => city.corrected_position(),
        Claims::AsListed => city.position(),
        Claims::Unknown => None,
    };
    let position = degrees.and_then(|(lat, lon)| Position::new(lat as f32, lon as f32));
    let country = scenario.topology.hierarchy.subnet(agent.home.subnet).country();
    AgentClaim { agent: agent.agent, position, is_by_owner: position.is_some(), country }
}

fn measure(
    scenario: &Scenario<'_>,
    pairs: &[(AgentId, AgentId)],
    times: &mut MutualTimes,
    budget: &mut DailyBudget,
) {
    for (a, b) in pairs {
        let home = scenario.agent(*b).home;
        let rtt_ms = scenario.probe_ms(scenario.agent(*a), home) as f32;
        budget.record(*a, home.subnet);
        times.insert(*a, *b, rtt_ms.is_finite().then_some(rtt_ms));
    }
}
