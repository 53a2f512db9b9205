//! One run: searches with a liar among the agents.
//!
//! The agents measure each other's home addresses first, as the coordinator orders it: each some
//! partners, and those that this does not prove honest some more. Searches predict by places and
//! learn from all trails, those of the liar included.

use std::collections::HashMap;

use delegation::places::{AgentClaim, AgentMap, Levels, PlaceModel, next_step};
use delegation::plausibility::{LEAST_MS, Review, Trust, TrustLevel};
use delegation::{Availability, AvailableAgents, Search, Step, TrailProbe};
use model::{AgentId, Phase, Policy};

use super::forged_times::Reports;
use super::{Forgery, ForgeryOutcome, Irregularity};
use crate::replay::{
    MeasuredHomes, ReviewedSearch, claim, count_judgements, measured_ms, simulate,
};
use crate::{Claims, PlacedAgent, Scenario, Site};

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
    state.pause_forging();
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
    homes: MeasuredHomes,
    /// None until something is known of the agents' places.
    places: Option<PlaceModel>,
    taught: Vec<Taught>,
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
            homes: MeasuredHomes::default(),
            places: None,
            taught: Vec::new(),
            trust: HashMap::new(),
            available: agents.iter().map(|agent| (agent.agent, Availability::Ready)).collect(),
            optimal: 0,
            outcome: ForgeryOutcome::default(),
        }
    }

    /// The present agents measure each other's homes as far as that is missing. Their reports are
    /// judged, and the model is taught all trails so far.
    fn measure_homes(&mut self) {
        let Reports { scenario, .. } = self.reports;
        let present = scenario.agents.iter().filter(|agent| self.available.knows(agent.agent));
        let claims: Vec<AgentClaim> =
            present.map(|agent| claim(scenario, agent, Claims::Corrected)).collect();
        let reports = self.reports;
        self.homes.complete(&claims, |agent, witness| {
            reports.reported_ms(scenario.agent(witness), reports.home(scenario.agent(agent)))
        });
        self.trust = Trust::of_all(&self.homes.reports, HashMap::new());
        let available = &self.available;
        self.trust.retain(|agent, _| available.knows(*agent));
        self.places = self.homes.map.take().map(AgentMap::into_model);
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
        self.homes.forget(&forging);
        for agent in forging {
            self.available.remove(agent);
            if agent == LIAR && self.settings.forgery != Forgery::None {
                self.outcome.paused_after = Some(self.outcome.searches);
            } else {
                self.outcome.honest_paused += 1;
            }
        }
        self.measure_homes();
    }

    fn search(&mut self, site: Site, number: usize) {
        let scenario = self.reports.scenario;
        let draw = scenario.noise().uniform(&[DRAW, number as u64]);
        let rtt_ms = |agent: &PlacedAgent| self.reports.reported_ms(agent, site);
        let decided = simulate(scenario, site, rtt_ms, |search| self.step(search, draw));
        if let Some((agent, _, trail)) = decided {
            self.decide(site, agent.agent, &trail);
        }
    }

    fn step(&self, search: &Search<'_>, draw: f64) -> Step {
        let hierarchy = &self.reports.scenario.topology.hierarchy;
        let Some(places) = &self.places else { return Step::NoAgents };
        let policy = Policy::default();
        if !self.settings.checks {
            return next_step(hierarchy, &self.available, &policy, places, search).0;
        }
        let reviewed = ReviewedSearch { hierarchy, places, review: self.review(), draw };
        reviewed.step(&self.available, &policy, search)
    }

    fn review(&self) -> Review<'_> {
        let control_share = self.settings.control_share;
        Review { references: &self.homes.references, trust: &self.trust, control_share }
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
        let judged = self.review().judge_decided(trail);
        count_judgements(&mut self.trust, judged);
        self.pause_forging();
    }

    fn credible_trail(&self, trail: &[TrailProbe]) -> Vec<TrailProbe> {
        if self.settings.checks { self.review().credible_trail(trail) } else { trail.to_vec() }
    }

    fn learn(&mut self, site: Site, trail: &[TrailProbe]) {
        let credible = self.credible_trail(trail);
        let times: Vec<(AgentId, f64)> =
            credible.iter().filter_map(measured_ms).filter(|(_, ms)| *ms >= LEAST_MS).collect();
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
