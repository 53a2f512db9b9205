//! The coordinator's search, by places.

use std::collections::HashMap;

use clap::ValueEnum;
use delegation::places::{AgentClaim, Levels, PlaceModel, Position};
use delegation::plausibility::{Review, Trust};
use delegation::{Search, TrailProbe};
use model::{AgentId, Policy};
use serde::Serialize;

use super::budget::DailyBudget;
use super::measured_homes::MeasuredHomes;
use super::reviewed_step::{ReviewedSearch, count_judgements};
use super::searches::{DecidedSearch, Searches};
use super::simulated_search::simulate;
use crate::{PlacedAgent, Scenario, Site};

/// Where the agents say they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Claims {
    /// In their cities; wrong positions of the list of 2018 are corrected
    Corrected,
    /// In their cities, wrong positions included
    AsListed,
    /// Nobody knows where the agents are
    Unknown,
}

pub(super) struct PlaceSearches<'d> {
    scenario: &'d Scenario<'d>,
    model: PlaceModel,
    homes: MeasuredHomes,
    trust: HashMap<AgentId, Trust>,
    policy: Policy,
    budget: DailyBudget,
}

/// Key of the stream of random numbers that draws the searches to check.
const DRAW: u64 = 409;

impl<'d> PlaceSearches<'d> {
    /// The agents measure each other first, as the coordinator orders it. `None` while nothing is
    /// known of the agents then.
    pub(super) fn new(scenario: &'d Scenario<'d>, claims: Claims) -> Option<Self> {
        let claims: Vec<AgentClaim> =
            scenario.agents.iter().map(|agent| claim(scenario, agent, claims)).collect();
        let mut homes = MeasuredHomes::default();
        homes.complete(&claims, |agent, witness| {
            scenario.probe_ms(scenario.agent(witness), scenario.agent(agent).home)
        });
        let model = homes.map.take()?.into_model();
        let trust = Trust::of_all(&homes.reports, HashMap::new());
        let policy = Policy::default();
        Some(Self { scenario, model, homes, trust, policy, budget: DailyBudget::default() })
    }
}

impl<'d> Searches<'d> for PlaceSearches<'d> {
    fn delegate(&mut self, site: Site) -> Option<DecidedSearch<'d>> {
        let hierarchy = &self.scenario.topology.hierarchy;
        let review = review(&self.homes, &self.trust);
        let draw = self.scenario.noise().uniform(&[DRAW, u64::from(site.subnet.get())]);
        let reviewed = ReviewedSearch { hierarchy, places: &self.model, review, draw };
        let next = |search: &Search<'_>| {
            self.budget.step(&self.scenario.agents, &self.policy, search, |agents| {
                reviewed.step(agents, &self.policy, search)
            })
        };
        let rtt_ms = |agent: &PlacedAgent| self.scenario.probe_ms(agent, site);
        let (agent, _, trail) = simulate(self.scenario, site, rtt_ms, next)?;
        let credible = review.credible_trail(&trail);
        let times: Vec<(AgentId, f64)> = credible.iter().filter_map(measured_ms).collect();
        self.model.learn(Levels::of(hierarchy, site.subnet), &times);
        let judged = review.judge_decided(&trail);
        count_judgements(&mut self.trust, judged);
        Some(DecidedSearch { agent, probes: trail.len() })
    }

    fn home_probes(&self) -> u64 {
        self.homes.len() as u64
    }
}

/// The review of searches with the shipped share of control probes.
fn review<'r>(homes: &'r MeasuredHomes, trust: &'r HashMap<AgentId, Trust>) -> Review<'r> {
    let control_share = f64::from(Policy::default().control_permille) / 1000.0;
    Review { references: &homes.references, trust, control_share }
}

/// The agent and the round trip of a probe, where one was measured.
pub(crate) fn measured_ms(probe: &TrailProbe) -> Option<(AgentId, f64)> {
    Some((probe.agent, probe.rtt_ms()?))
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
