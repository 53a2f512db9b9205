//! What is known, and what it says about a search.

use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use delegation::predictor::detect_anycast;
use delegation::predictor::landmarks::MIN_LANDMARKS;
use delegation::predictor::{self, Clusters, MIN_PROBABILITY, Predictor, Prior};
use delegation::{AvailableAgents, Policy, ProbeOutcome, Search, Step, TrailProbe};
use hierarchy::{Generation, Hierarchy, SubnetId};
use model::{AgentId, Phase};
use store::probes::Expected;
use store::round_trips::RoundTrip;
use tokio::sync::Mutex;

use crate::predictor::{Basis, Spending};
use crate::runtime::delegated_hierarchy::DelegatedHierarchy;

/// What the predictive strategy knows; nothing before the first survey.
#[derive(Debug, Default)]
pub struct Insight {
    knowledge: RwLock<Option<Knowledge>>,
    /// Held by whoever surveys.
    pub(super) surveying: Mutex<()>,
    /// What was asked for today.
    pub spending: Spending,
}

/// Clusters and prior on one generation of the hierarchy.
#[derive(Debug)]
pub(crate) struct Knowledge {
    pub(super) generation: Generation,
    pub(super) clusters: Clusters,
    pub(super) prior: Prior,
    /// What was read for it.
    pub(super) basis: Basis,
}

/// A decided search, as prior learns from it.
#[derive(Debug, Clone, PartialEq)]
pub struct Lesson {
    /// The subnet.
    pub subnet: SubnetId,
    /// Who measured what in it, in milliseconds, in the order of asking.
    pub times_ms: Vec<(AgentId, f64)>,
}

/// A search that wants its next step.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// Whether it was opened with the predictive strategy.
    pub predictive: bool,
    /// Who can be asked.
    pub roster: &'a AvailableAgents,
    /// What the admins say.
    pub policy: &'a Policy,
    /// The search.
    pub search: &'a Search<'a>,
}

impl Insight {
    /// The next step of a search, and what is expected of the agent it asks. The paper's order
    /// (IPMicra III.E) where the search goes by threshold or too little is known yet.
    pub fn next_step(
        &self,
        delegated: &DelegatedHierarchy,
        question: &Question<'_>,
    ) -> (Step, Option<Expected>) {
        let Question { predictive, roster, policy, search } = *question;
        let (hierarchy, delegation_table) = (delegated.hierarchy(), delegated.delegation_table());
        let knowledge = self.read();
        let usable = knowledge.as_ref().filter(|known| predictive && known.fits(hierarchy));
        let Some(known) = usable else {
            return (
                delegation::next_step(hierarchy, &delegation_table, roster, policy, search),
                None,
            );
        };
        let predictor = known.predictor();
        let (step, posterior) =
            predictor::next_step(hierarchy, &delegation_table, roster, policy, &predictor, search);
        let expected = match (step, &posterior) {
            (Step::Ask(candidate), Some(posterior)) if candidate.phase == Phase::Predicted => {
                Some(expected(posterior, question, candidate.agent))
            }
            _ => None,
        };
        (step, expected)
    }

    /// Learns where a subnet is from a search that was decided.
    pub fn learn(&self, hierarchy: &Hierarchy, lesson: &Lesson) {
        if let Some(known) = self.write().as_mut().filter(|known| known.fits(hierarchy)) {
            known.learn(hierarchy, lesson);
        }
    }

    /// Whether enough landmarks are known to predict anything.
    pub fn has_enough(&self) -> bool {
        self.read().as_ref().is_some_and(Knowledge::has_enough)
    }

    /// Looks at the clusters, if anything is known.
    pub fn with_clusters<T>(&self, look: impl FnOnce(&Clusters) -> T) -> Option<T> {
        self.read().as_ref().map(|known| look(&known.clusters))
    }

    /// Two agents far from each other that are both near to the subnet of a lesson, where there are
    /// such: it answers in several clusters (anycast).
    pub fn detect_anycast(&self, lesson: &Lesson) -> Option<(AgentId, AgentId)> {
        self.with_clusters(|clusters| detect_anycast(clusters, &lesson.times_ms)).flatten()
    }

    /// Looks at what is believed of a subnet after these probes; none where nothing is known.
    pub fn with_posterior<T>(
        &self,
        hierarchy: &Hierarchy,
        (subnet, trail): (SubnetId, &[TrailProbe]),
        look: impl FnOnce(Option<&predictor::Posterior<'_>>) -> T,
    ) -> T {
        let knowledge = self.read();
        let search = Search { subnet, trail, provisional: None, waited_ms: 0 };
        let known = knowledge.as_ref().filter(|known| known.fits(hierarchy));
        let predictor = known.map(Knowledge::predictor);
        let posterior = predictor.as_ref().map(|predictor| predictor.posterior(hierarchy, &search));
        look(posterior.as_ref())
    }

    /// What the knowledge was built from, and on which generation of the hierarchy.
    pub fn basis(&self) -> Option<(Generation, Basis)> {
        self.read().as_ref().map(|known| (known.generation, known.basis))
    }

    pub(crate) fn replace(&self, knowledge: Knowledge) {
        *self.write() = Some(knowledge);
    }

    fn read(&self) -> RwLockReadGuard<'_, Option<Knowledge>> {
        self.knowledge.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Option<Knowledge>> {
        self.knowledge.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Knowledge {
    pub(crate) fn learn(&mut self, hierarchy: &Hierarchy, lesson: &Lesson) {
        let prior = self.prior.probabilities(hierarchy, lesson.subnet);
        let mut posterior = predictor::Posterior::new(&self.clusters, &prior);
        for (agent, rtt_ms) in &lesson.times_ms {
            posterior.observe(*agent, *rtt_ms);
        }
        self.prior.add_observation(hierarchy, lesson.subnet, &posterior.probabilities());
    }

    fn fits(&self, hierarchy: &Hierarchy) -> bool {
        self.generation == hierarchy.generation() && self.has_enough()
    }

    fn has_enough(&self) -> bool {
        self.clusters.members().len() >= MIN_LANDMARKS
    }

    fn predictor(&self) -> Predictor<'_> {
        Predictor { clusters: &self.clusters, prior: &self.prior, min_probability: MIN_PROBABILITY }
    }
}

fn expected(
    posterior: &predictor::Posterior<'_>,
    question: &Question<'_>,
    agent: AgentId,
) -> Expected {
    let (rtt_ms, deviation_ms) = posterior.expected_ms(agent);
    let chance = if let Some(best_ms) = best_ms(question) {
        posterior.probabilities_below(best_ms, &[agent]).pop()
    } else {
        Some(posterior.probability_nearest(agent, question.roster, question.search))
    };
    Expected {
        rtt_us: us(rtt_ms),
        deviation_us: us(deviation_ms),
        chance: chance.unwrap_or(0.0) as f32,
    }
}

/// The fastest so far of those who may be chosen.
fn best_ms(question: &Question<'_>) -> Option<f64> {
    let known = question.search.trail.iter().filter(|asked| question.roster.knows(asked.agent));
    known.filter_map(measured_ms).min_by(f64::total_cmp)
}

/// The round trip of a step, in milliseconds.
pub(crate) fn measured_ms(asked: &TrailProbe) -> Option<f64> {
    match asked.outcome {
        ProbeOutcome::Measured { rtt_us } => Some(f64::from(rtt_us) / 1000.0),
        ProbeOutcome::Pending | ProbeOutcome::Unreachable | ProbeOutcome::Expired => None,
    }
}

fn us(ms: f64) -> u32 {
    (ms * 1000.0).clamp(0.0, f64::from(u32::MAX)) as u32
}

impl Lesson {
    /// What fetches teach.
    pub fn of_fetches(hierarchy: &Hierarchy, shortest: &RoundTrip) -> Self {
        let subnet = hierarchy.smallest(shortest.address);
        Self { subnet, times_ms: vec![(shortest.agent, f64::from(shortest.rtt_us) / 1000.0)] }
    }

    /// What a trail teaches; nothing where nobody measured.
    pub fn of(subnet: SubnetId, trail: &[TrailProbe]) -> Option<Self> {
        let times_ms: Vec<_> =
            trail.iter().filter_map(|asked| Some((asked.agent, measured_ms(asked)?))).collect();
        (!times_ms.is_empty()).then_some(Self { subnet, times_ms })
    }
}
