//! Delegation search: opens searches, asks agents, decides, and improves provisional delegations.

pub mod drive_searches;
pub mod expire_probes;
pub mod metrics;
pub mod open_searches;
pub mod round;

use std::sync::Arc;

use store::Store;

use crate::predictor::Predictor;
use crate::runtime::agent_wakeups::AgentWakeups;
use crate::runtime::clock::Clock;
use crate::runtime::config::Limits;
use crate::runtime::delegated_hierarchy::CurrentHierarchy;
use crate::runtime::events::Events;
use crate::runtime::policy::CurrentPolicy;
use crate::runtime::region_moves::CurrentRegionMoves;
use crate::search::metrics::SearchMetrics;
use crate::search::open_searches::ReadUpTo;

/// The parts that the tasks of this stage use.
pub struct DelegationSearch {
    pub store: Store,
    /// Bounds on open searches, probes per agent and attempts.
    pub limits: Limits,
    /// Time of all decisions and rows.
    pub clock: Arc<dyn Clock>,
    /// Receives the events of this stage.
    pub events: Arc<Events>,
    /// Where decisions are computed and entered.
    pub hierarchy: Arc<CurrentHierarchy>,
    /// Threshold, patience, strategy, probes a day.
    pub policy: Arc<CurrentPolicy>,
    /// Notifies agents that are asked for probes or lose subnets.
    pub agent_wakeups: Arc<AgentWakeups>,
    /// Which subnets may move within their regions.
    pub region_moves: Arc<CurrentRegionMoves>,
    /// Chooses the next agent of predictive searches.
    pub predictor: Arc<Predictor>,
    /// Counts searches and decisions.
    pub metrics: SearchMetrics,
    /// How far the hosts that wait were read.
    pub waiting_read: ReadUpTo,
}
