//! Many hosts with many agents: how fast are the decisions?

use std::hint::black_box;

use delegation::predictor::{self, MIN_PROBABILITY, Predictor, Prior};
use delegation::{
    Availability, AvailableAgents, Delegation, DelegationTable, Policy, TrailProbe, next_step,
};
use model::Reason;

use crate::replay::predictive::survey;
use crate::replay::simulated_search::{search_with, simulate};
use crate::stopwatch::Stopwatch;
use crate::{Elapsed, Scenario, Site};

/// Which search is timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchKind {
    /// The paper's, at 50 ms.
    Threshold,
    /// With landmarks.
    Predictive,
}

/// What a run over many hosts showed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Scale {
    /// Hosts that came up.
    pub hosts: u64,
    /// Of these, hosts whose subnet was delegated already.
    pub known: u64,
    /// Searches for the others.
    pub searches: u64,
    /// Probes of these.
    pub probes: u64,
    /// Decisions of the searches: whom to ask next, or whom to choose.
    pub decisions: u64,
    /// Landmarks and clusters of the predictive search.
    pub survey: Elapsed,
    /// All hosts, with the simulation of their probes.
    pub run: Elapsed,
    /// Decisions taken again in a tight loop, with the delegation table and the prior as they were in the
    /// end.
    pub decisions_again: u64,
    /// What those elapsed, as the median of some turns: one of a second may meet a machine that is
    /// busy.
    pub again: Elapsed,
}

/// Key of this stream of probability.
const HOST: u64 = 401;
/// Hosts crowd: the subnet of a host is the uniform scenario to this power.
const CROWDING: f64 = 1.5;
/// Searches that are taken again.
const AGAIN: usize = 20_000;
/// How often.
const TURNS: usize = 5;

/// Lets so many hosts come up on the scenario's subnets, each in its subnet's first address.
pub fn scale(scenario: &Scenario<'_>, hosts: u64, search_kind: SearchKind) -> Scale {
    let mut desk = Desk::new(scenario, search_kind);
    let stopwatch = Stopwatch::start();
    for host in 0..hosts {
        let cluster =
            scenario.noise().uniform(&[HOST, host]).powf(CROWDING) * scenario.sites.len() as f64;
        if let Some(site) = scenario.sites.get(cluster as usize) {
            desk.host(*site);
        }
    }
    desk.seen.run = stopwatch.elapsed();
    desk.again();
    desk.seen
}

struct Desk<'d> {
    scenario: &'d Scenario<'d>,
    search_kind: SearchKind,
    roster: AvailableAgents,
    policy: Policy,
    delegation_table: DelegationTable,
    clusters: predictor::Clusters,
    prior: Prior,
    trails: Vec<(Site, Vec<TrailProbe>)>,
    seen: Scale,
}

impl<'d> Desk<'d> {
    fn new(scenario: &'d Scenario<'d>, search_kind: SearchKind) -> Self {
        let stopwatch = Stopwatch::start();
        let clusters = survey(scenario);
        let prior = Prior::from_landmarks(&scenario.topology.hierarchy, &clusters);
        Self {
            scenario,
            search_kind,
            roster: scenario
                .agents
                .iter()
                .map(|agent| (agent.agent, Availability::Ready))
                .collect(),
            policy: Policy::default(),
            delegation_table: scenario.delegation_table(),
            clusters,
            prior,
            trails: Vec::new(),
            seen: Scale { survey: stopwatch.elapsed(), ..Scale::default() },
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
        let mut probabilities = None;
        let walked = simulate(self.scenario, site, |search| {
            let (step, posterior) = self.step(search);
            probabilities = posterior.map(|posterior| posterior.probabilities());
            step
        });
        let Some((agent, reason, trail)) = walked else { return };
        self.seen.searches += 1;
        self.seen.probes += trail.len() as u64;
        self.seen.decisions += trail.len() as u64 + 1;
        self.learn(site, agent.agent, reason, probabilities.as_deref());
        if self.trails.len() < AGAIN {
            self.trails.push((site, trail));
        }
    }

    fn step(
        &self,
        search: &delegation::Search<'_>,
    ) -> (delegation::Step, Option<predictor::Posterior<'_>>) {
        let hierarchy = &self.scenario.topology.hierarchy;
        let (table, agents) = (&self.delegation_table, &self.roster);
        match self.search_kind {
            SearchKind::Threshold => {
                (next_step(hierarchy, table, agents, &self.policy, search), None)
            }
            SearchKind::Predictive => predictor::next_step(
                hierarchy,
                table,
                agents,
                &self.policy,
                &self.predictor(),
                search,
            ),
        }
    }

    fn predictor(&self) -> Predictor<'_> {
        Predictor { clusters: &self.clusters, prior: &self.prior, min_probability: MIN_PROBABILITY }
    }

    fn learn(
        &mut self,
        site: Site,
        agent: model::AgentId,
        reason: Reason,
        probabilities: Option<&[f64]>,
    ) {
        let hierarchy = &self.scenario.topology.hierarchy;
        self.delegation_table.insert(hierarchy, site.subnet, Delegation { agent, reason });
        if let Some(probabilities) = probabilities {
            self.prior.add_observation(hierarchy, site.subnet, probabilities);
        }
    }

    /// Every step of the kept searches once more, in turns.
    fn again(&mut self) {
        let mut turns: Vec<(u64, Elapsed)> = (0..TURNS).map(|_| self.turn()).collect();
        turns.sort_by(|(_, a), (_, b)| a.cpu_ms.total_cmp(&b.cpu_ms));
        (self.seen.decisions_again, self.seen.again) = turns[TURNS / 2];
    }

    fn turn(&self) -> (u64, Elapsed) {
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
