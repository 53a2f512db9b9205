//! One run: searches with a liar among the agents.
//!
//! The agents measure each other's home addresses first, as the coordinator orders it: each some
//! partners, and those that this does not prove honest some more. Searches predict by places and
//! learn from all trails, those of the liar included.

use std::collections::{BTreeSet, HashMap};

use delegation::places::{
    AgentClaim, AgentMap, Levels, MutualTimes, PlaceModel, map_agents, next_step,
};
use delegation::plausibility::{
    ControlPolicy, HomeReports, HomeTime, LEAST_MS, ReferenceTimes, Review, Trust, TrustLevel,
    Wins, partner_measurements,
};
use delegation::{Availability, AvailableAgents, Policy, ProbeOutcome, Search, Step, TrailProbe};
use model::{AgentId, Phase};

use super::forged_times::Reports;
use super::{Forgery, ForgeryOutcome, Irregularity};
use crate::replay::{claim, measured_ms};
use crate::{Claims, Scenario, Site};

/// Settings of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ForgerySettings {
    /// What the first agent reports; the others are honest.
    pub forgery: Forgery,
    /// What is unusual about the second agent.
    pub irregularity: Irregularity,
    /// Share of trusted agents' wins that are checked.
    pub control_share: f64,
    /// Whether reports are judged at all.
    pub checks: bool,
}

const LIAR: AgentId = AgentId::new(1);
/// Judged reports below which a share says little.
const MIN_JUDGED: usize = 3;
/// Key of the stream of random numbers that draws the searches to check.
const DRAW: u64 = 223;

/// Replays the searches of a scenario.
pub fn run(scenario: &Scenario<'_>, settings: ForgerySettings) -> ForgeryOutcome {
    let ForgerySettings { forgery, irregularity, .. } = settings;
    let mut state = State::new(Reports { scenario, forgery, irregularity }, settings);
    state.measure_homes();
    for (number, site) in scenario.sites.iter().enumerate() {
        state.search(*site, number);
    }
    state.outcome()
}

/// What a search taught: the levels of its subnet, and milliseconds by agent.
type Taught = (Levels, Vec<(AgentId, f64)>);

struct State<'s> {
    reports: Reports<'s>,
    settings: ForgerySettings,
    homes: Vec<HomeTime>,
    /// None until something is known of the agents' places.
    places: Option<PlaceModel>,
    taught: Vec<Taught>,
    references: ReferenceTimes,
    trust: HashMap<AgentId, Trust>,
    available: AvailableAgents,
    optimal: usize,
    outcome: ForgeryOutcome,
}

impl<'s> State<'s> {
    fn new(reports: Reports<'s>, settings: ForgerySettings) -> Self {
        let agents = &reports.scenario.agents;
        Self {
            reports,
            settings,
            homes: Vec::new(),
            places: None,
            taught: Vec::new(),
            references: ReferenceTimes::default(),
            trust: HashMap::new(),
            available: agents.iter().map(|agent| (agent.agent, Availability::Ready)).collect(),
            optimal: 0,
            outcome: ForgeryOutcome::default(),
        }
    }

    /// Partners measure each other, then those that are not accepted have more partners.
    fn measure_homes(&mut self) {
        let agents: Vec<AgentId> = self.available.agents().collect();
        self.measure(&partner_measurements(&agents, |_| true));
        self.judge(HashMap::new());
        let trust = &self.trust;
        let is_accepted = |agent| trust.get(&agent).is_some_and(|trust| trust.homes.is_accepted);
        self.measure(&partner_measurements(&agents, is_accepted));
        self.judge(HashMap::new());
        self.map_agents();
        self.pause_forging();
    }

    /// Adds what is missing of these measurements, each of an agent's home by a witness.
    fn measure(&mut self, wanted: &BTreeSet<(AgentId, AgentId)>) {
        let known: BTreeSet<(AgentId, AgentId)> =
            self.homes.iter().map(|home| (home.agent, home.witness)).collect();
        for (agent, witness) in wanted.difference(&known) {
            let scenario = self.reports.scenario;
            let home = self.reports.home(scenario.agent(*agent));
            let ms = self.reports.reported_ms(scenario.agent(*witness), home);
            self.homes.push(HomeTime { agent: *agent, witness: *witness, ms });
        }
    }

    fn judge(&mut self, wins: HashMap<AgentId, Wins>) {
        self.references = ReferenceTimes::new(&self.homes);
        self.trust = Trust::of_all(&HomeReports::judge_all(&self.references), wins);
        let available = &self.available;
        self.trust.retain(|agent, _| available.knows(*agent));
    }

    /// Maps the agents and teaches the model all trails so far.
    fn map_agents(&mut self) {
        let scenario = self.reports.scenario;
        let present = scenario.agents.iter().filter(|agent| self.available.knows(agent.agent));
        let claims: Vec<AgentClaim> =
            present.map(|agent| claim(scenario, agent, Claims::Corrected)).collect();
        loop {
            let mut times = MutualTimes::default();
            for HomeTime { agent, witness, ms } in &self.homes {
                if *ms >= LEAST_MS {
                    times.insert(*agent, *witness, Some(*ms as f32));
                }
            }
            let mapped = map_agents(&claims, &times);
            let known = self.homes.len();
            self.measure(&mapped.missing.into_iter().collect());
            // A pair stays missing where the liar reports no possible time.
            if self.homes.len() == known {
                self.places = mapped.map.map(AgentMap::into_model);
                break;
            }
        }
        if let Some(places) = &mut self.places {
            for (levels, times) in &self.taught {
                places.learn(*levels, times);
            }
        }
    }

    /// Pauses forging agents. What they said of the others is forgotten: these are judged anew.
    fn pause_forging(&mut self) {
        if !self.settings.checks {
            return;
        }
        let is_forging = |agent: &AgentId| {
            self.trust.get(agent).is_some_and(|trust| trust.level() == TrustLevel::Forging)
        };
        let forging: Vec<AgentId> = self.available.agents().filter(is_forging).collect();
        if forging.is_empty() {
            return;
        }
        self.count_shares();
        self.homes.retain(|home| !forging.contains(&home.witness));
        for agent in forging {
            self.available.remove(agent);
            if agent == LIAR && self.settings.forgery != Forgery::None {
                self.outcome.paused_after = Some(self.outcome.searches);
            } else {
                self.outcome.honest_paused += 1;
            }
        }
        self.judge(HashMap::new());
        self.map_agents();
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
                    return self.decide(site, agent, &trail);
                }
                Step::Wait | Step::NoAnswer | Step::NoAgents => return,
            }
        }
    }

    fn step(&self, site: Site, trail: &[TrailProbe], draw: f64) -> Step {
        let hierarchy = &self.reports.scenario.topology.hierarchy;
        let Some(places) = &self.places else { return Step::NoAgents };
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
        let (step, _) = next_step(hierarchy, &agents, &Policy::default(), places, &search);
        let Step::Decide { agent, .. } = step else { return step };
        if !self.settings.checks {
            return step;
        }
        let order = places.nearest_without(hierarchy, &agents, &search, agent);
        let order = order.into_iter().chain(agents.agents());
        review.confirm(step, &search, &agents, draw, order)
    }

    fn review(&self) -> Review<'_> {
        let policy = ControlPolicy { share: self.settings.control_share };
        Review { references: &self.references, trust: &self.trust, policy }
    }

    fn decide(&mut self, site: Site, agent: AgentId, trail: &[TrailProbe]) {
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
        self.learn(site, trail);
        if let Some((agent, judgement)) = self.review().judge_fastest(trail) {
            self.trust.entry(agent).or_default().wins.observe(judgement.verdict());
        }
        self.pause_forging();
    }

    fn learn(&mut self, site: Site, trail: &[TrailProbe]) {
        let times: Vec<(AgentId, f64)> =
            trail.iter().filter_map(measured_ms).filter(|(_, ms)| *ms >= LEAST_MS).collect();
        let levels = Levels::of(&self.reports.scenario.topology.hierarchy, site.subnet);
        if let Some(places) = &mut self.places {
            places.learn(levels, &times);
        }
        self.taught.push((levels, times));
    }

    /// Notes the shares of contradicted reports on homes.
    fn count_shares(&mut self) {
        let is_liar = |agent: AgentId| agent == LIAR && self.settings.forgery != Forgery::None;
        for (agent, trust) in &self.trust {
            let judged = trust.homes.judgements.len();
            let share = trust.homes.contradicted() as f64 / judged.max(1) as f64;
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
