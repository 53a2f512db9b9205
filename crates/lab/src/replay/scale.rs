//! Speed of the decisions for many hosts with many agents.

use std::hint::black_box;

use clap::ValueEnum;
use delegation::places::{self, Levels, PlaceModel};
use delegation::{
    Availability, AvailableAgents, Delegation, DelegationTable, Step, TrailProbe, next_step,
};
use model::{AgentId, Policy, Reason};
use serde::Serialize;

use super::place_searches::{mapped_model, measured_ms};
use super::simulated_search::{search_with, simulate};
use crate::stopwatch::Stopwatch;
use crate::{ElapsedTime, PlacedAgent, Scenario, Site};

/// Search that is timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum SearchKind {
    /// The paper's search, at 50 ms
    Threshold,
    /// The predictive search
    Predictive,
}

/// Counts and times of a run over many hosts.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Scale {
    /// Hosts of the run.
    pub hosts: u64,
    /// Hosts whose subnet was delegated already.
    pub known: u64,
    /// Searches for the subnets of the other hosts.
    pub searches: u64,
    /// Probes of the searches.
    pub probes: u64,
    /// Steps of the searches.
    pub decisions: u64,
    /// The map of the agents, by which the predictive search begins.
    pub model_fit: ElapsedTime,
    /// All hosts, with the simulation of their probes.
    pub run: ElapsedTime,
    /// Steps that were computed again in a tight loop, on the final delegation table and model.
    pub decisions_again: u64,
    /// Time of those steps, the median of several turns, because the machine may be busy.
    pub again: ElapsedTime,
}

/// Key of the stream of random numbers that draws hosts.
const HOST: u64 = 401;
/// Exponent of the uniform number that draws the subnet of a host: a few subnets have most hosts.
const CROWDING: f64 = 1.5;
/// Searches whose steps are computed again.
const AGAIN: usize = 20_000;
/// Turns over these searches.
const TURNS: usize = 5;

/// Runs the searches for `hosts` hosts, each at the first address of a subnet of the scenario.
pub fn scale(scenario: &Scenario<'_>, hosts: u64, search_kind: SearchKind) -> Scale {
    let mut run = Run::new(scenario, search_kind);
    let stopwatch = Stopwatch::start();
    for host in 0..hosts {
        let cluster =
            scenario.noise().uniform(&[HOST, host]).powf(CROWDING) * scenario.sites.len() as f64;
        if let Some(site) = scenario.sites.get(cluster as usize) {
            run.host(*site);
        }
    }
    run.seen.run = stopwatch.elapsed();
    run.again();
    run.seen
}

struct Run<'d> {
    scenario: &'d Scenario<'d>,
    available: AvailableAgents,
    policy: Policy,
    delegation_table: DelegationTable,
    /// None for the paper's search.
    places: Option<PlaceModel>,
    trails: Vec<(Site, Vec<TrailProbe>)>,
    seen: Scale,
}

impl<'d> Run<'d> {
    fn new(scenario: &'d Scenario<'d>, search_kind: SearchKind) -> Self {
        let stopwatch = Stopwatch::start();
        let is_predictive = search_kind == SearchKind::Predictive;
        let places = is_predictive.then(|| mapped_model(scenario)).flatten();
        Self {
            scenario,
            available: scenario
                .agents
                .iter()
                .map(|agent| (agent.agent, Availability::Ready))
                .collect(),
            policy: Policy::default(),
            delegation_table: scenario.delegation_table(),
            places,
            trails: Vec::new(),
            seen: Scale { model_fit: stopwatch.elapsed(), ..Scale::default() },
        }
    }

    fn host(&mut self, site: Site) {
        let hierarchy = &self.scenario.topology.hierarchy;
        self.seen.hosts += 1;
        black_box(hierarchy.smallest(hierarchy.subnet(site.subnet).range().first()));
        if self.delegation_table.agent_of(site.subnet).is_some() {
            self.seen.known += 1;
            return;
        }
        let rtt_ms = |agent: &PlacedAgent| self.scenario.probe_ms(agent, site);
        let walked = simulate(self.scenario, site, rtt_ms, |search| self.step(search));
        let Some((agent, reason, trail)) = walked else { return };
        self.seen.searches += 1;
        self.seen.probes += trail.len() as u64;
        self.seen.decisions += trail.len() as u64 + 1;
        self.learn(site, (agent.agent, reason), &trail);
        if self.trails.len() < AGAIN {
            self.trails.push((site, trail));
        }
    }

    fn step(&self, search: &delegation::Search<'_>) -> Step {
        let hierarchy = &self.scenario.topology.hierarchy;
        let agents = &self.available;
        match &self.places {
            None => next_step(hierarchy, &self.delegation_table, agents, &self.policy, search),
            Some(model) => places::next_step(hierarchy, agents, &self.policy, model, search).0,
        }
    }

    fn learn(&mut self, site: Site, (agent, reason): (AgentId, Reason), trail: &[TrailProbe]) {
        let hierarchy = &self.scenario.topology.hierarchy;
        self.delegation_table.insert(hierarchy, site.subnet, Delegation { agent, reason });
        if let Some(places) = &mut self.places {
            let times: Vec<(AgentId, f64)> = trail.iter().filter_map(measured_ms).collect();
            places.learn(Levels::of(hierarchy, site.subnet), &times);
        }
    }

    /// Computes every step of the first searches again, in turns.
    fn again(&mut self) {
        let mut turns: Vec<(u64, ElapsedTime)> = (0..TURNS).map(|_| self.turn()).collect();
        turns.sort_by(|(_, a), (_, b)| a.cpu_ms.total_cmp(&b.cpu_ms));
        (self.seen.decisions_again, self.seen.again) = turns[TURNS / 2];
    }

    fn turn(&self) -> (u64, ElapsedTime) {
        let stopwatch = Stopwatch::start();
        let mut count = 0;
        for (site, trail) in &self.trails {
            for asked in 0..=trail.len() {
                black_box(self.step(&search_with(*site, &trail[..asked])));
                count += 1;
            }
        }
        (count, stopwatch.elapsed())
    }
}
