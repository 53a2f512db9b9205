//! Prediction by landmarks in a live replay: the landmarks grow with the subnets that answered.

use delegation::predictor::{
    Clusters, Landmark, MIN_PROBABILITY, Posterior, Predictor, Prior, landmarks, next_step,
};
use delegation::{Delegation, DelegationTable, Policy, ProbeOutcome, Search, TrailProbe};
use hierarchy::SubnetId;
use model::AgentId;

use super::budget::DailyBudget;
use super::{Decided, OtherProbes, Searches};
use crate::replay::simulated_search::simulate;
use crate::{PlacedAgent, Scenario, Site};

/// A fit is due when one report in so many is new.
const CHANGED_SHARE: usize = 20;
/// Key of the stream of random numbers that orders landmarks.
const RANK: u64 = 104;

/// Round trips to a subnet, by agent, in milliseconds.
type Times = Vec<(AgentId, f64)>;

pub(super) struct LandmarkSearches<'d> {
    scenario: &'d Scenario<'d>,
    table: DelegationTable,
    policy: Policy,
    budget: DailyBudget,
    landmarks: Vec<Landmark>,
    clusters: Clusters,
    prior: Prior,
    /// Searches that are over, in their order.
    decided: Vec<(Site, Times)>,
    probes: u64,
}

impl<'d> LandmarkSearches<'d> {
    pub(super) fn new(scenario: &'d Scenario<'d>) -> Self {
        let clusters = Clusters::fit(&[]);
        let prior = Prior::from_landmarks(&scenario.topology.hierarchy, &clusters);
        Self {
            scenario,
            table: scenario.delegation_table(),
            policy: Policy::default(),
            budget: DailyBudget::default(),
            landmarks: Vec::new(),
            clusters,
            prior,
            decided: Vec::new(),
            probes: 0,
        }
    }

    /// Chooses the landmarks that are missing, has them measured, and fits the model again.
    fn renew_landmarks(&mut self) {
        let target = landmarks::target_count(self.decided.len(), landmarks::COUNT);
        let missing = target.saturating_sub(self.landmarks.len());
        if missing <= self.landmarks.len() / CHANGED_SHARE {
            return;
        }
        let hierarchy = &self.scenario.topology.hierarchy;
        let answering: Vec<SubnetId> = self.decided.iter().map(|(site, _)| site.subnet).collect();
        let noise = self.scenario.noise();
        let rank = |subnet: SubnetId| noise.hash(&[RANK, u64::from(subnet.get())]);
        let taken: Vec<SubnetId> = self.landmarks.iter().map(|landmark| landmark.subnet).collect();
        let ideal = landmarks::choose(hierarchy, &answering, target, rank);
        let new = ideal.into_iter().filter(|subnet| !taken.contains(subnet)).take(missing);
        for subnet in new {
            let site = self.decided.iter().find(|(site, _)| site.subnet == subnet);
            if let Some((site, _)) = site {
                let landmark = self.measure(*site);
                self.landmarks.push(landmark);
            }
        }
        self.clusters = Clusters::fit(&self.landmarks);
        self.prior = Prior::from_landmarks(hierarchy, &self.clusters);
        for number in 0..self.decided.len() {
            self.learn(number);
        }
    }

    fn measure(&mut self, site: Site) -> Landmark {
        let budget = &mut self.budget;
        let time = |agent: &PlacedAgent| {
            budget.record(agent.agent, site.subnet);
            (agent.agent, self.scenario.probe_ms(agent, site))
        };
        let times_ms: Times = self.scenario.agents.iter().map(time).collect();
        self.probes += times_ms.len() as u64;
        Landmark { subnet: site.subnet, times_ms }
    }

    fn learn(&mut self, number: usize) {
        if self.clusters.members().len() < landmarks::MIN_LANDMARKS {
            return;
        }
        let (site, times) = &self.decided[number];
        let hierarchy = &self.scenario.topology.hierarchy;
        let prior = self.prior.probabilities(hierarchy, site.subnet);
        let mut posterior = Posterior::new(&self.clusters, &prior);
        for (agent, ms) in times {
            posterior.observe(*agent, *ms);
        }
        self.prior.add_observation(hierarchy, site.subnet, &posterior.probabilities());
    }
}

impl<'d> Searches<'d> for LandmarkSearches<'d> {
    fn delegate(&mut self, site: Site) -> Option<Decided<'d>> {
        let hierarchy = &self.scenario.topology.hierarchy;
        let table = &self.table;
        let policy = &self.policy;
        let is_usable = self.clusters.members().len() >= landmarks::MIN_LANDMARKS;
        let predictor = Predictor {
            clusters: &self.clusters,
            prior: &self.prior,
            min_probability: MIN_PROBABILITY,
        };
        let next = |search: &Search<'_>| {
            self.budget.step(&self.scenario.agents, policy, search, |agents| {
                if is_usable {
                    next_step(hierarchy, table, agents, policy, &predictor, search).0
                } else {
                    delegation::next_step(hierarchy, table, agents, policy, search)
                }
            })
        };
        let (agent, reason, trail) = simulate(self.scenario, site, next)?;
        self.table.insert(hierarchy, site.subnet, Delegation { agent: agent.agent, reason });
        self.decided.push((site, trail.iter().filter_map(measured_ms).collect()));
        self.learn(self.decided.len() - 1);
        self.renew_landmarks();
        Some(Decided { agent, probes: trail.len() })
    }

    fn other_probes(&self) -> OtherProbes {
        OtherProbes { landmarks: self.probes, agents: 0 }
    }
}

fn measured_ms(probe: &TrailProbe) -> Option<(AgentId, f64)> {
    match probe.outcome {
        ProbeOutcome::Measured { rtt_us } => Some((probe.agent, f64::from(rtt_us) / 1000.0)),
        ProbeOutcome::Pending | ProbeOutcome::Unreachable | ProbeOutcome::Expired => None,
    }
}
