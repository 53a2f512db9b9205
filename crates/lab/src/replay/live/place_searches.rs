//! Prediction by places in a live replay.

use delegation::places::{
    AgentPlace, Levels, MutualTimes, PlaceModel, Position, embed, next_step, pairs_to_measure,
    place_agents,
};
use delegation::{Policy, ProbeOutcome, Search, TrailProbe};
use model::AgentId;

use super::budget::DailyBudget;
use super::{Decided, OtherProbes, Searches};
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
    /// The agents measure each other as far as their places need it.
    pub(super) fn new(scenario: &'d Scenario<'d>, claims: Claims) -> Self {
        let mut budget = DailyBudget::default();
        let mut times = MutualTimes::default();
        let model = match claimed_positions(scenario, claims) {
            Some(claims) => on_globe(scenario, &claims, &mut times, &mut budget),
            None => on_embedding(scenario, &mut times, &mut budget),
        };
        let mutual_probes = times.len() as u64;
        Self { scenario, model, policy: Policy::default(), budget, mutual_probes }
    }
}

impl<'d> Searches<'d> for PlaceSearches<'d> {
    fn delegate(&mut self, site: Site) -> Option<Decided<'d>> {
        let hierarchy = &self.scenario.topology.hierarchy;
        let next = |search: &Search<'_>| {
            self.budget.step(&self.scenario.agents, &self.policy, search, |agents| {
                next_step(hierarchy, agents, &self.policy, &self.model, search).0
            })
        };
        let (agent, _, trail) = simulate(self.scenario, site, next)?;
        let times: Vec<(AgentId, f64)> = trail.iter().filter_map(measured_ms).collect();
        self.model.learn(Levels::of(hierarchy, site.subnet), &times);
        Some(Decided { agent, probes: trail.len() })
    }

    fn other_probes(&self) -> OtherProbes {
        OtherProbes { landmarks: 0, agents: self.mutual_probes }
    }
}

fn measured_ms(probe: &TrailProbe) -> Option<(AgentId, f64)> {
    match probe.outcome {
        ProbeOutcome::Measured { rtt_us } => Some((probe.agent, f64::from(rtt_us) / 1000.0)),
        ProbeOutcome::Pending | ProbeOutcome::Unreachable | ProbeOutcome::Expired => None,
    }
}

/// The claimed positions; `None` when the world has none.
fn claimed_positions(scenario: &Scenario<'_>, claims: Claims) -> Option<Vec<(AgentId, Position)>> {
    let position = |agent: &PlacedAgent| {
        let city = &scenario.topology.world.cities()[agent.city.get()];
        let (lat, lon) = match claims {
            Claims::Corrected => city.corrected_position()?,
            Claims::AsListed => city.position()?,
            Claims::Unknown => return None,
        };
        Some((agent.agent, Position::new(lat as f32, lon as f32)?))
    };
    scenario.agents.iter().map(position).collect()
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

fn on_globe(
    scenario: &Scenario<'_>,
    claims: &[(AgentId, Position)],
    times: &mut MutualTimes,
    budget: &mut DailyBudget,
) -> PlaceModel {
    let placement = loop {
        let placement = place_agents(claims, times);
        if placement.missing.is_empty() {
            break placement;
        }
        measure(scenario, &placement.missing, times, budget);
    };
    let agents = scenario.agents.iter().zip(placement.positions);
    let place = |(agent, (position, is_doubtful)): (&PlacedAgent, (Position, bool))| {
        let country = scenario.topology.hierarchy.subnet(agent.home.subnet).country();
        AgentPlace { agent: agent.agent, position, country, is_doubtful }
    };
    PlaceModel::on_globe(agents.map(place).collect())
}

fn on_embedding(
    scenario: &Scenario<'_>,
    times: &mut MutualTimes,
    budget: &mut DailyBudget,
) -> PlaceModel {
    let agents: Vec<AgentId> = scenario.agents.iter().map(|agent| agent.agent).collect();
    measure(scenario, &pairs_to_measure(&agents, times), times, budget);
    let embedding = embed(&agents, times);
    PlaceModel::on_embedding(agents, &embedding)
}
