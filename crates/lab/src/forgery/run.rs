//! One run: searches with a liar among the agents.
//!
//! All agents measure the home addresses of the others first. Then, with each search, every agent
//! reports some more landmarks, and the new reports are judged. The predictor's model is fitted to
//! all landmarks from the start, as when agents join an installation that is at work.

use std::collections::HashMap;

use delegation::plausibility::{
    ControlPolicy, HomeTime, ReferenceTimes, Review, SequentialTest, Trust, TrustLevel,
    judge_landmarks,
};
use delegation::predictor::{Clusters, Landmark, MIN_PROBABILITY, Predictor, Prior, next_step};
use delegation::{
    Availability, AvailableAgents, DelegationTable, Policy, ProbeOutcome, Search, Step, TrailProbe,
};
use model::{AgentId, Phase};

use super::forged_times::Reports;
use super::{Forgery, ForgeryOutcome, Irregularity};
use crate::{Scenario, Site};

/// Settings of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ForgerySettings {
    /// What the first agent reports; the others are honest.
    pub forgery: Forgery,
    /// What is unusual about the second agent.
    pub irregularity: Irregularity,
    /// Landmarks that each agent reports with each search.
    pub landmarks_per_search: usize,
    /// Share of trusted agents' wins that are checked.
    pub control_share: f64,
    /// Whether reports are judged at all.
    pub checks: bool,
}

const LIAR: AgentId = AgentId::new(1);
/// Judged reports below which a share says little.
const MIN_JUDGED: u32 = 10;
/// Key of the stream of random numbers that draws the searches to check.
const DRAW: u64 = 223;

/// Replays the searches of a scenario.
pub fn run(scenario: &Scenario<'_>, settings: ForgerySettings) -> ForgeryOutcome {
    let ForgerySettings { forgery, irregularity, .. } = settings;
    let mut state = State::new(Reports { scenario, forgery, irregularity }, settings);
    for (number, site) in scenario.sites.iter().enumerate() {
        state.measure_landmarks(number);
        state.search(*site, number);
    }
    state.outcome()
}

struct State<'s> {
    reports: Reports<'s>,
    settings: ForgerySettings,
    landmarks: Vec<Landmark>,
    homes: Vec<HomeTime>,
    clusters: Clusters,
    prior: Prior,
    references: ReferenceTimes,
    trust: HashMap<AgentId, Trust>,
    available: AvailableAgents,
    optimal: usize,
    outcome: ForgeryOutcome,
}

impl<'s> State<'s> {
    fn new(reports: Reports<'s>, settings: ForgerySettings) -> Self {
        let scenario = reports.scenario;
        let agents = &scenario.agents;
        let measure = |site: &Site| {
            let times = agents.iter().map(|agent| (agent.agent, reports.reported_ms(agent, *site)));
            Landmark { subnet: site.subnet, times_ms: times.collect() }
        };
        let landmarks: Vec<Landmark> = scenario.landmarks.iter().map(measure).collect();
        let clusters = Clusters::fit(&landmarks);
        let prior = Prior::from_landmarks(&scenario.topology.hierarchy, &clusters);
        let mut homes = Vec::new();
        for agent in agents {
            for witness in agents.iter().filter(|witness| witness.agent != agent.agent) {
                let ms = reports.reported_ms(witness, reports.home(agent));
                homes.push(HomeTime { agent: agent.agent, witness: witness.agent, ms });
            }
        }
        let available = agents.iter().map(|agent| (agent.agent, Availability::Ready)).collect();
        Self {
            reports,
            settings,
            landmarks,
            homes,
            clusters,
            prior,
            references: ReferenceTimes::default(),
            trust: HashMap::new(),
            available,
            optimal: 0,
            outcome: ForgeryOutcome::default(),
        }
    }

    /// Landmarks that are measured when so many searches have begun.
    fn measured(&self, searches: usize) -> usize {
        (searches * self.settings.landmarks_per_search).min(self.landmarks.len())
    }

    /// The next landmarks are measured by all agents and judged.
    fn measure_landmarks(&mut self, search: usize) {
        let known = self.measured(search);
        let measured = self.measured(search + 1);
        if !self.settings.checks || known == measured {
            return;
        }
        self.judge(known, measured);
        self.pause_forging(measured);
    }

    /// Judges the landmarks from `known` to `measured`.
    fn judge(&mut self, known: usize, measured: usize) {
        self.references = ReferenceTimes::new(&self.landmarks[..measured], &self.homes);
        let agents: Vec<AgentId> = self.available.agents().collect();
        for agent in agents {
            let judged = judge_landmarks(&self.references, agent, |landmark| landmark >= known);
            let trust = self.trust.entry(agent).or_default();
            for (_, judgement) in judged {
                trust.observe_landmark(judgement.verdict());
            }
        }
    }

    /// Pauses forging agents. What they said of the others is forgotten: these are judged anew.
    fn pause_forging(&mut self, measured: usize) {
        let is_forging = |agent: &AgentId| {
            self.trust.get(agent).is_some_and(|trust| trust.level() == TrustLevel::Forging)
        };
        let forging: Vec<AgentId> = self.available.agents().filter(is_forging).collect();
        if forging.is_empty() {
            return;
        }
        self.count_shares();
        for landmark in &mut self.landmarks {
            landmark.times_ms.retain(|(agent, _)| !forging.contains(agent));
        }
        self.homes.retain(|home| !forging.contains(&home.witness));
        for agent in forging {
            self.available.remove(agent);
            if agent == LIAR && self.settings.forgery != Forgery::None {
                self.outcome.paused_after = Some(self.outcome.searches);
            } else {
                self.outcome.honest_paused += 1;
            }
        }
        self.trust.clear();
        self.judge(0, measured);
    }

    fn search(&mut self, site: Site, number: usize) {
        let draw = self.reports.scenario.noise().uniform(&[DRAW, number as u64]);
        let mut trail: Vec<TrailProbe> = Vec::new();
        loop {
            match self.step(site, &trail, draw) {
                Step::Ask(candidate) => {
                    let agent = self.reports.scenario.agent(candidate.agent);
                    let rtt_us = (self.reports.reported_ms(agent, site) * 1000.0).max(1.0) as u32;
                    let outcome = ProbeOutcome::Measured { rtt_us };
                    let phase = candidate.phase;
                    trail.push(TrailProbe { agent: candidate.agent, phase, outcome });
                }
                Step::Decide { agent, .. } => {
                    return self.decide(site, agent, &trail, number);
                }
                Step::Wait | Step::NoAnswer | Step::NoAgents => return,
            }
        }
    }

    fn step(&self, site: Site, trail: &[TrailProbe], draw: f64) -> Step {
        let hierarchy = &self.reports.scenario.topology.hierarchy;
        let predictor = Predictor {
            clusters: &self.clusters,
            prior: &self.prior,
            min_probability: MIN_PROBABILITY,
        };
        let review = self.review();
        let credible =
            if self.settings.checks { review.credible_trail(trail) } else { trail.to_vec() };
        let agents = if self.settings.checks {
            review.admitted(&self.available)
        } else {
            self.available.clone()
        };
        let search =
            Search { subnet: site.subnet, trail: &credible, provisional: None, waited_ms: 0 };
        let table = DelegationTable::default();
        let policy = Policy::default();
        let (step, _) = next_step(hierarchy, &table, &agents, &policy, &predictor, &search);
        let Step::Decide { agent, .. } = step else { return step };
        if !self.settings.checks {
            return step;
        }
        let order = predictor.nearest_without(hierarchy, &agents, &search, agent);
        let order = order.into_iter().chain(agents.agents());
        review.confirm(step, &search, &agents, draw, order)
    }

    fn review(&self) -> Review<'_> {
        let policy = ControlPolicy { share: self.settings.control_share };
        Review { references: &self.references, trust: &self.trust, policy }
    }

    fn decide(&mut self, site: Site, agent: AgentId, trail: &[TrailProbe], number: usize) {
        let scenario = self.reports.scenario;
        let nearest = scenario.agents.iter().min_by(|a, b| {
            let true_ms = |agent| self.reports.measured_ms(agent, site);
            true_ms(a).total_cmp(&true_ms(b))
        });
        let is_optimal = nearest.is_some_and(|nearest| nearest.agent == agent);
        self.optimal += usize::from(is_optimal);
        self.outcome.searches += 1;
        self.outcome.probes += trail.len();
        let control = trail.iter().filter(|probe| probe.phase == Phase::Control).count();
        self.outcome.control_probes += control;
        if self.outcome.paused_after.is_none() {
            self.outcome.decided += 1;
            self.outcome.wrong += usize::from(agent == LIAR && !is_optimal);
        }
        if !self.settings.checks {
            return;
        }
        if let Some((agent, judgement)) = self.review().judge_fastest(trail) {
            self.trust.entry(agent).or_default().observe_win(judgement.verdict());
        }
        self.pause_forging(self.measured(number + 1));
    }

    /// Notes the shares of contradicted landmark reports.
    fn count_shares(&mut self) {
        let is_liar = |agent: AgentId| agent == LIAR && self.settings.forgery != Forgery::None;
        for (agent, trust) in &self.trust {
            let SequentialTest { judged, contradicted, .. } = trust.landmarks;
            let share = f64::from(contradicted) / f64::from(judged.max(1));
            if is_liar(*agent) {
                self.outcome.liar_share = share;
            } else if judged >= MIN_JUDGED {
                self.outcome.honest_share = self.outcome.honest_share.max(share);
            }
        }
    }

    fn outcome(mut self) -> ForgeryOutcome {
        self.count_shares();
        self.outcome.optimal_share = self.optimal as f64 / self.outcome.searches.max(1) as f64;
        self.outcome
    }
}
