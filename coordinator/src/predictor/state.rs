//! Predictor state: the models in memory, and what they say about a search.

use std::sync::{Arc, Mutex as PlainMutex, PoisonError, RwLock, RwLockReadGuard};

use delegation::places::{self, AgentMap, PlaceModel, Posterior};
use delegation::plausibility::ReferenceTimes;
use delegation::predictor::Clusters;
use delegation::predictor::landmarks::MIN_LANDMARKS;
use delegation::{AvailableAgents, Policy, Search, Step, TrailProbe};
use hierarchy::{Hierarchy, Numbering, SubnetId};
use model::{AgentId, Phase, UnixMillis};
use store::landmarks::{ReportCounts, Stamp};
use store::probes::Expected;
use store::searches::DecidedPosition;
use tokio::sync::Mutex;

use crate::predictor::agent_places::KnownAgents;
use crate::predictor::choose_landmarks::ChoiceStamp;
use crate::predictor::measure_landmarks::RestedAgents;
use crate::predictor::observation::{Observation, measured_ms};
use crate::predictor::probe_budget::ProbeBudget;
use crate::runtime::delegated_hierarchy::DelegatedHierarchy;

/// The models, `None` before they are made, and the probe budget.
#[derive(Debug, Default)]
pub struct PredictorState {
    model: RwLock<Option<Arc<TaughtModel>>>,
    /// Held while the model is made or taught, so that two tasks never do it at the same time.
    pub(super) teaching: Mutex<()>,
    fitted: RwLock<Option<FittedModel>>,
    /// Held during a fit to landmarks.
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

/// The model of places for one numbering of subnets.
#[derive(Debug, Clone)]
pub(super) struct TaughtModel {
    pub(super) numbering: Numbering,
    /// What the map was made from.
    pub(super) known: KnownAgents,
    pub(super) map: Option<AgentMap>,
    /// Pairs of agents whose time would complete the map.
    pub(super) missing: Vec<(AgentId, AgentId)>,
    /// None while nothing is known of the agents' places.
    pub(super) places: Option<PlaceModel>,
    /// The last search that it was taught.
    pub(super) taught_to: DecidedPosition,
}

/// Clusters of landmarks on one numbering of subnets.
#[derive(Debug)]
pub(super) struct FittedModel {
    pub(super) numbering: Numbering,
    pub(super) clusters: Clusters,
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
    /// uses the paper's order (IPMicra III.E) when it is not `predictive`, or while nothing is
    /// known of the agents' places.
    pub fn next_step(
        &self,
        delegated: &DelegatedHierarchy,
        predictive: bool,
        agents: &AvailableAgents,
        policy: &Policy,
        search: &Search<'_>,
    ) -> (Step, Option<Expected>) {
        let hierarchy = delegated.hierarchy();
        let model = self.model(hierarchy).filter(|_| predictive);
        let Some(places) = model.as_ref().and_then(|model| model.places.as_ref()) else {
            let table = delegated.delegation_table();
            return (delegation::next_step(hierarchy, &table, agents, policy, search), None);
        };
        let (step, posterior) = places::next_step(hierarchy, agents, policy, places, search);
        let expected = match step {
            Step::Ask(candidate) if candidate.phase == Phase::Predicted => {
                expected(&posterior, agents, search, candidate.agent)
            }
            _ => None,
        };
        (step, expected)
    }

    /// What is known of the distances between agents; nothing before the first fit.
    pub fn references(&self) -> Arc<ReferenceTimes> {
        self.read_fitted().as_ref().map(|model| Arc::clone(&model.references)).unwrap_or_default()
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
        let model = self.model(hierarchy);
        let places = model.as_ref().and_then(|model| model.places.as_ref());
        places.map_or_else(Vec::new, |places| {
            places.nearest_without(hierarchy, agents, search, agent)
        })
    }

    /// Whether there are enough landmarks to judge reports by.
    pub fn has_enough_landmarks(&self) -> bool {
        self.with_clusters(|clusters| clusters.members().len() >= MIN_LANDMARKS).unwrap_or(false)
    }

    /// Calls `read` with the clusters; `None` before the first fit.
    pub fn with_clusters<T>(&self, read: impl FnOnce(&Clusters) -> T) -> Option<T> {
        self.read_fitted().as_ref().map(|model| read(&model.clusters))
    }

    /// Two agents far from each other that are both near to the subnet, where there are such: its
    /// address answers in several places (anycast).
    pub fn detect_anycast(
        &self,
        hierarchy: &Hierarchy,
        observation: &Observation,
    ) -> Option<(AgentId, AgentId)> {
        self.model(hierarchy)?.places.as_ref()?.detect_anycast(&observation.times_ms)
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
        let model = self.model(hierarchy);
        let search = Search { subnet, trail, provisional: None, waited_ms: 0 };
        let places = model.as_ref().and_then(|model| model.places.as_ref());
        let posterior = places.map(|places| places.posterior_of(hierarchy, &search));
        read(posterior.as_ref())
    }

    /// The model, if it is of this hierarchy: by other ids of subnets it means nothing.
    pub(super) fn model(&self, hierarchy: &Hierarchy) -> Option<Arc<TaughtModel>> {
        let model = self.model.read().unwrap_or_else(PoisonError::into_inner);
        model.as_ref().filter(|model| model.numbering == hierarchy.numbering()).cloned()
    }

    pub(super) fn replace(&self, model: TaughtModel) {
        *self.model.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(model));
    }

    /// Forgets what it derived. After an election it may lack what the previous leader did.
    pub fn reset(&self) {
        *self.model.write().unwrap_or_else(PoisonError::into_inner) = None;
        self.budget.reset();
    }

    /// The numbering of subnets and the landmark reports of the last fit.
    pub fn fit_input(&self) -> Option<(Numbering, FitInput)> {
        self.read_fitted().as_ref().map(|model| (model.numbering, model.input))
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

    pub(super) fn replace_fitted(&self, model: FittedModel) {
        *self.fitted.write().unwrap_or_else(PoisonError::into_inner) = Some(model);
    }

    fn read_fitted(&self) -> RwLockReadGuard<'_, Option<FittedModel>> {
        self.fitted.read().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the model predicts for a probe; it is stored with the probe, to judge the model later.
/// `None` for an agent that is not on the map.
fn expected(
    posterior: &Posterior<'_>,
    agents: &AvailableAgents,
    search: &Search<'_>,
    agent: AgentId,
) -> Option<Expected> {
    let (rtt_ms, deviation_ms) = posterior.expected_ms(agent)?;
    // Only agents that may still be chosen set the time to beat.
    let measured = search.trail.iter().filter(|probe| agents.knows(probe.agent));
    let best_ms = measured.filter_map(measured_ms).min_by(f64::total_cmp);
    let chance = match best_ms {
        Some(best_ms) => posterior.probability_below(agent, best_ms)?,
        None => posterior.probability_nearest(agent, agents, search)?,
    };
    Some(Expected {
        rtt_us: micros(rtt_ms),
        deviation_us: micros(deviation_ms),
        chance: chance as f32,
    })
}

fn micros(millis: f64) -> u32 {
    (millis * 1000.0).clamp(0.0, f64::from(u32::MAX)) as u32
}
