//! What the predictive strategy knows, kept while everything runs.
//!
//! Nothing here is the only copy: clusters come from the stored times of landmarks, prior from
//! the stored trails of searches, and what was spent today from the stored orders. A coordinator
//! that takes office thinks it out anew.

mod availability;
pub mod choose_landmarks;
mod findings;
pub mod fit_model;
mod knowledge;
pub mod measure_landmarks;
mod model_fit;
mod plan;
mod spending;

use std::sync::Arc;

use store::Store;

use crate::runtime::agent_wakeups::AgentWakeups;
use crate::runtime::clock::Clock;
use crate::runtime::config::Limits;
use crate::runtime::delegated_hierarchy::CurrentHierarchy;
use crate::runtime::events::Events;
use crate::runtime::policy::CurrentPolicy;

pub use availability::availability;
pub use findings::{cut_apart, findings};
pub use knowledge::{Insight, Lesson, Question};
pub use model_fit::{Basis, Sizes, know, survey};
pub use plan::{Plan, State, anycast, plan};
pub use spending::{Spending, probe_limits};

/// The predictor and the parts that its tasks use.
pub struct Predictor {
    /// Postgres.
    pub store: Store,
    /// How many probes an agent may have at the same time.
    pub limits: Limits,
    /// Time of all decisions and rows.
    pub clock: Arc<dyn Clock>,
    /// Receives the events of this stage.
    pub events: Arc<Events>,
    /// Finds the subnets of landmarks and searches.
    pub hierarchy: Arc<CurrentHierarchy>,
    /// Strategy, number of landmarks, probes a day.
    pub policy: Arc<CurrentPolicy>,
    /// Notifies agents that are asked to measure landmarks.
    pub agent_wakeups: Arc<AgentWakeups>,
    /// The fitted model and the probes of today.
    pub insight: Insight,
}
