//! Predictor state: the fitted model in memory, and what it says about a search.

use std::sync::{Arc, Mutex as PlainMutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use delegation::plausibility::ReferenceTimes;
use delegation::predictor::landmarks::MIN_LANDMARKS;
use delegation::predictor::{self, Clusters, MIN_PROBABILITY, Posterior, Prior, detect_anycast};
use delegation::{AvailableAgents, Policy, Search, Step, TrailProbe};
use hierarchy::{Hierarchy, Numbering, SubnetId};
use model::{AgentId, Phase, UnixMillis};
use store::landmarks::{ReportCounts, Stamp};
use store::probes::Expected;
use tokio::sync::Mutex;

use crate::predictor::choose_landmarks::ChoiceStamp;
use crate::predictor::measure_landmarks::RestedAgents;
use crate::predictor::observation::{Observation, measured_ms};
use crate::predictor::probe_budget::ProbeBudget;
use crate::runtime::delegated_hierarchy::DelegatedHierarchy;

/// The fitted model, `None` before the first fit, and the probe budget.
#[derive(Debug, Default)]
pub struct PredictorState {
    model: RwLock<Option<FittedModel>>,
    /// Held during a fit, so that two tasks never fit the model at the same time.
    pub(super) fitting: Mutex<()>,
    /// The last count of reports on landmarks, with what it depends on.
    counted: PlainMutex<Option<(Stamp, UnixMillis, ReportCounts)>>,
    /// Agents that have nothing to measure for a while.
    pub(super) rested: PlainMutex<RestedAgents>,
    /// What the landmarks were last chosen from.
    pub(super) chosen_from: PlainMutex<Option<ChoiceStamp>>,
    /// Probes of today.
    pub budget: ProbeBudget,
}

/// Clusters and prior on one numbering of subnets.
#[derive(Debug)]
pub(super) struct FittedModel {
    pub(super) numbering: Numbering,
    pub(super) clusters: Clusters,
    pub(super) prior: Prior,
    /// Distances between agents, by which reports are judged.
    pub(super) references: Arc<ReferenceTimes>,
    pub(super) input: FitInput,
}

/// The landmark reports from which a model was fitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FitInput {
    /// Number of reports.
    pub reports: u64,
    /// Time of the newest report.
    pub newest: UnixMillis,
    /// When the reports were read.
    pub read_at: UnixMillis,
}

impl PredictorState {
    /// The next step of a search, and the predicted answer of the agent that it asks. The search
    /// uses the paper's order (IPMicra III.E) when it is not `predictive`, or while there are too
    /// few landmarks to predict anything.
    pub fn next_step(
        &self,
        delegated: &DelegatedHierarchy,
        predictive: bool,
        agents: &AvailableAgents,
        policy: &Policy,
        search: &Search<'_>,
    ) -> (Step, Option<Expected>) {
        let hierarchy = delegated.hierarchy();
        let table = delegated.delegation_table();
        let model = self.read();
        let usable = model.as_ref().filter(|model| predictive && model.is_usable(hierarchy));
        let Some(model) = usable else {
            return (delegation::next_step(hierarchy, &table, agents, policy, search), None);
        };
        let (step, posterior) =
            predictor::next_step(hierarchy, &table, agents, policy, &model.predictor(), search);
        let expected = match (step, &posterior) {
            (Step::Ask(candidate), Some(posterior)) if candidate.phase == Phase::Predicted => {
                Some(expected(posterior, agents, search, candidate.agent))
            }
            _ => None,
        };
        (step, expected)
    }

    /// What is known of the distances between agents; nothing before the first fit.
    pub fn references(&self) -> Arc<ReferenceTimes> {
        self.read().as_ref().map(|model| Arc::clone(&model.references)).unwrap_or_default()
    }

    /// Ready agents that the search has not asked, the ones first that are nearest by what agents
    /// other than `agent` measured: the best to check its report. Empty when the model cannot
    /// predict anything.
    pub fn control_agents(
        &self,
        hierarchy: &Hierarchy,
        agents: &AvailableAgents,
        search: &Search<'_>,
        agent: AgentId,
    ) -> Vec<AgentId> {
        let model = self.read();
        let usable = model.as_ref().filter(|model| model.is_usable(hierarchy));
        usable.map_or_else(Vec::new, |model| {
            model.predictor().nearest_without(hierarchy, agents, search, agent)
        })
    }

    /// Updates the prior with what was measured of a subnet.
    pub fn learn(&self, hierarchy: &Hierarchy, observation: &Observation) {
        if let Some(model) = self.write().as_mut().filter(|model| model.is_usable(hierarchy)) {
            model.learn(hierarchy, observation);
        }
    }

    /// Whether the model has enough landmarks to predict anything.
    pub fn has_enough_landmarks(&self) -> bool {
        self.read().as_ref().is_some_and(FittedModel::has_enough_landmarks)
    }

    /// Calls `read` with the clusters; `None` before the first fit.
    pub fn with_clusters<T>(&self, read: impl FnOnce(&Clusters) -> T) -> Option<T> {
        self.read().as_ref().map(|model| read(&model.clusters))
    }

    /// Two agents far from each other that are both near to the subnet, where there are such: its
    /// address answers in several places (anycast).
    pub fn detect_anycast(&self, observation: &Observation) -> Option<(AgentId, AgentId)> {
        self.with_clusters(|clusters| detect_anycast(clusters, &observation.times_ms)).flatten()
    }

    /// Calls `read` with the posterior of a subnet after these probes; with `None` when the model
    /// cannot predict anything.
    pub fn with_posterior<T>(
        &self,
        hierarchy: &Hierarchy,
        subnet: SubnetId,
        trail: &[TrailProbe],
        read: impl FnOnce(Option<&Posterior<'_>>) -> T,
    ) -> T {
        let model = self.read();
        let search = Search { subnet, trail, provisional: None, waited_ms: 0 };
        let usable = model.as_ref().filter(|model| model.is_usable(hierarchy));
        let predictor = usable.map(FittedModel::predictor);
        let posterior = predictor.as_ref().map(|predictor| predictor.posterior(hierarchy, &search));
        read(posterior.as_ref())
    }

    /// The numbering of subnets and the input of the present model.
    pub fn fit_input(&self) -> Option<(Numbering, FitInput)> {
        self.read().as_ref().map(|model| (model.numbering, model.input))
    }

    /// The last count of reports, if nothing that it depends on has changed.
    pub(super) fn counted(&self, stamp: Stamp, since: UnixMillis) -> Option<ReportCounts> {
        let counted = *self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        let same = counted.filter(|(of, from, _)| *of == stamp && *from == since);
        same.map(|(_, _, counts)| counts)
    }

    pub(super) fn set_counted(&self, stamp: Stamp, since: UnixMillis, counts: ReportCounts) {
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        *counted = Some((stamp, since, counts));
    }

    pub(super) fn replace(&self, model: FittedModel) {
        *self.write() = Some(model);
    }

    fn read(&self) -> RwLockReadGuard<'_, Option<FittedModel>> {
        self.model.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Option<FittedModel>> {
        self.model.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl FittedModel {
    pub(super) fn learn(&mut self, hierarchy: &Hierarchy, observation: &Observation) {
        let prior = self.prior.probabilities(hierarchy, observation.subnet);
        let mut posterior = Posterior::new(&self.clusters, &prior);
        for (agent, rtt_ms) in &observation.times_ms {
            posterior.observe(*agent, *rtt_ms);
        }
        // The posterior of this subnet is evidence for the prior of its neighbours and company.
        self.prior.add_observation(hierarchy, observation.subnet, &posterior.probabilities());
    }

    /// A model by other ids of subnets means nothing.
    fn is_usable(&self, hierarchy: &Hierarchy) -> bool {
        self.numbering == hierarchy.numbering() && self.has_enough_landmarks()
    }

    fn has_enough_landmarks(&self) -> bool {
        self.clusters.members().len() >= MIN_LANDMARKS
    }

    fn predictor(&self) -> predictor::Predictor<'_> {
        predictor::Predictor {
            clusters: &self.clusters,
            prior: &self.prior,
            min_probability: MIN_PROBABILITY,
        }
    }
}

/// What the model predicts for a probe; it is stored with the probe, to judge the model later.
fn expected(
    posterior: &Posterior<'_>,
    agents: &AvailableAgents,
    search: &Search<'_>,
    agent: AgentId,
) -> Expected {
    let (rtt_ms, deviation_ms) = posterior.expected_ms(agent);
    // Only agents that may still be chosen set the time to beat.
    let measured = search.trail.iter().filter(|probe| agents.knows(probe.agent));
    let best_ms = measured.filter_map(measured_ms).min_by(f64::total_cmp);
    let chance = match best_ms {
        Some(best_ms) => posterior.probabilities_below(best_ms, &[agent]).pop(),
        None => Some(posterior.probability_nearest(agent, agents, search)),
    };
    Expected {
        rtt_us: micros(rtt_ms),
        deviation_us: micros(deviation_ms),
        chance: chance.unwrap_or(0.0) as f32,
    }
}

fn micros(millis: f64) -> u32 {
    (millis * 1000.0).clamp(0.0, f64::from(u32::MAX)) as u32
}
