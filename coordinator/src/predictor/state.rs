//! Predictor state: the model in memory, and what they say about a search.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, PoisonError, RwLock};

use delegation::places::{self, AgentMap, PlaceModel, Posterior};
use delegation::plausibility::{HomeReports, ReferenceTimes, SearchReports, Trust};
use delegation::{AvailableAgents, Search, Step, TrailProbe};
use hierarchy::{Generation, Hierarchy, SubnetId};
use model::{AgentId, Phase, Policy};
use store::probes::ExpectedAnswer;
use tokio::sync::Mutex;

use crate::predictor::agent_places::KnownAgents;
use crate::predictor::observation::Observation;
use crate::predictor::probe_budget::ProbeBudget;
use crate::predictor::training_window::TrainingWindow;
use crate::runtime::delegated_hierarchy::DelegatedHierarchy;

/// The model, `None` before it is made, and the probe budget.
#[derive(Debug, Default)]
pub struct PredictorState {
    model: RwLock<Option<Arc<TrainedModel>>>,
    /// Held while the model is made or trained, so that two tasks never do it at the same time.
    pub(super) training: Mutex<()>,
    /// Probes of today.
    pub budget: ProbeBudget,
}

/// The model of places for one generation of the hierarchy. It knows registries, countries and
/// companies by their numbers, but no subnets, so that virtual ones may be added.
#[derive(Debug, Clone)]
pub(super) struct TrainedModel {
    pub(super) generation: Generation,
    /// What the map was made from.
    pub(super) known: KnownAgents,
    pub(super) map: Option<AgentMap>,
    /// Pairs of agents whose time would complete the map.
    pub(super) missing: Vec<(AgentId, AgentId)>,
    /// Distances between agents, by which reports are judged.
    pub(super) references: Arc<ReferenceTimes>,
    /// What the agents reported of each other's homes.
    pub(super) home_reports: Arc<BTreeMap<AgentId, HomeReports>>,
    /// None while nothing is known of the agents' places.
    pub(super) places: Option<PlaceModel>,
    /// The searches with which it was trained.
    pub(super) window: TrainingWindow,
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
    ) -> (Step, Option<ExpectedAnswer>) {
        let hierarchy = delegated.hierarchy();
        let model = self.model(hierarchy).filter(|_| predictive);
        if predictive && model.is_none() && self.is_of_other_generation(hierarchy) {
            // The next round uses that hierarchy, too. Until then the search must not change to the
            // paper's order.
            return (Step::Wait, None);
        }
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

    /// What is known of the distances between agents; nothing before they are mapped.
    pub fn references(&self, hierarchy: &Hierarchy) -> Arc<ReferenceTimes> {
        self.model(hierarchy).map(|model| Arc::clone(&model.references)).unwrap_or_default()
    }

    /// What the agents reported of each other's homes; none before the model is made.
    pub(super) fn home_reports(&self) -> Option<Arc<BTreeMap<AgentId, HomeReports>>> {
        let model = self.model.read().unwrap_or_else(PoisonError::into_inner);
        model.as_ref().map(|model| Arc::clone(&model.home_reports))
    }

    /// The trust in all agents with judged reports.
    pub fn trust(
        &self,
        hierarchy: &Hierarchy,
        searches: HashMap<AgentId, SearchReports>,
    ) -> HashMap<AgentId, Trust> {
        let homes = self.model(hierarchy).map(|model| Arc::clone(&model.home_reports));
        Trust::of_all(&homes.unwrap_or_default(), searches)
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
        let search = Search { subnet, trail, provisional: None, holder: None, waited_ms: 0 };
        let places = model.as_ref().and_then(|model| model.places.as_ref());
        let posterior = places.map(|places| places.posterior_of(hierarchy, &search));
        read(posterior.as_ref())
    }

    /// The model, if it is of this generation: by other numbers of companies it means nothing.
    pub(super) fn model(&self, hierarchy: &Hierarchy) -> Option<Arc<TrainedModel>> {
        let model = self.model.read().unwrap_or_else(PoisonError::into_inner);
        model.as_ref().filter(|model| model.generation == hierarchy.generation()).cloned()
    }

    /// Whether there is a model, of another generation than this hierarchy.
    fn is_of_other_generation(&self, hierarchy: &Hierarchy) -> bool {
        let model = self.model.read().unwrap_or_else(PoisonError::into_inner);
        model.as_ref().is_some_and(|model| model.generation != hierarchy.generation())
    }

    pub(super) fn replace(&self, model: TrainedModel) {
        *self.model.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(model));
    }

    /// Forgets what it derived. After an election it may lack what the previous leader did, and
    /// after a lost one what the next leader does.
    pub fn reset(&self) {
        *self.model.write().unwrap_or_else(PoisonError::into_inner) = None;
        self.budget.reset();
    }
}

/// What the model predicts for a probe; it is stored with the probe, to judge the model later.
/// `None` for an agent that is not on the map.
fn expected(
    posterior: &Posterior<'_>,
    agents: &AvailableAgents,
    search: &Search<'_>,
    agent: AgentId,
) -> Option<ExpectedAnswer> {
    let (rtt_ms, deviation_ms) = posterior.expected_ms(agent)?;
    // Only agents that may still be chosen set the time to beat.
    let measured = search.trail.iter().filter(|probe| agents.knows(probe.agent));
    let best_ms = measured.filter_map(TrailProbe::rtt_ms).min_by(f64::total_cmp);
    let chance = match best_ms {
        Some(best_ms) => posterior.probability_below(agent, best_ms)?,
        None => posterior.probability_nearest(agent, agents, search)?,
    };
    Some(ExpectedAnswer {
        rtt_us: micros(rtt_ms),
        deviation_us: micros(deviation_ms),
        chance: chance as f32,
    })
}

fn micros(millis: f64) -> u32 {
    (millis * 1000.0).clamp(0.0, f64::from(u32::MAX)) as u32
}

#[cfg(test)]
mod tests {
    use hierarchy::{Builder, Companies};
    use model::SearchId;
    use store::searches::DecidedPosition;

    use super::*;

    fn model(generation: Generation) -> TrainedModel {
        let start = DecidedPosition { decided_us: 0, search: SearchId::new(0) };
        TrainedModel {
            generation,
            known: KnownAgents::default(),
            map: None,
            missing: Vec::new(),
            references: Arc::default(),
            home_reports: Arc::default(),
            places: None,
            window: TrainingWindow::after(start, 1),
        }
    }

    #[test]
    fn virtual_subnets_leave_the_model_as_it_is() {
        let generation = Generation::new(1);
        let hierarchy = Builder::default().build(generation, Companies::default()).0;
        let range = "41.0.0.0/22".parse().unwrap();
        let wider = hierarchy.with_unregistered(generation, &[range]).unwrap();
        let state = PredictorState::default();
        state.replace(model(generation));
        assert!(state.model(&hierarchy).is_some() && state.model(&wider).is_some());
        let other = Builder::default().build(Generation::new(2), Companies::default()).0;
        assert!(state.model(&other).is_none() && state.is_of_other_generation(&other));
    }
}
