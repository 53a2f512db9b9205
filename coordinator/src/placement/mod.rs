//! Placement: which agent keeps which subnet (homes, constraints, drains, balance, calibration,
//! audit).

pub mod agent_administration;
pub mod apply_constraints;
pub mod audit;
pub mod balance;
pub mod balance_load;
pub mod calibrate;
pub mod check_paths;
pub mod constraints;
pub mod delegate_remapped;
pub mod drain;
pub mod drain_agents;
pub mod follow_hosts;
pub mod forget_history;
mod incident_round;
pub mod keep_partitions;
pub mod load_snapshot;
mod moved_agents;
pub mod pause_forging;
pub mod regions;
mod release;
pub mod settle_homes;

use std::sync::Arc;

use store::Store;

use crate::intake::recent_urls::RecentUrls;
use crate::placement::audit::{AuditInput, LastAudit};
use crate::placement::balance_load::VainRelief;
use crate::placement::constraints::pinned_ranges::PinnedRanges;
use crate::placement::delegate_remapped::HostWalk;
use crate::placement::drain_agents::DrainPositions;
use crate::placement::forget_history::HistoryPosition;
use crate::predictor::Predictor;
use crate::runtime::agent_wakeups::AgentWakeups;
use crate::runtime::clock::Clock;
use crate::runtime::config::Limits;
use crate::runtime::delegated_hierarchy::CurrentHierarchy;
use crate::runtime::events::Events;
use crate::runtime::policy::CurrentPolicy;
use crate::runtime::region_moves::CurrentRegionMoves;
use crate::search::DelegationSearch;

/// The parts that the tasks of this stage use.
pub struct Placement {
    pub store: Store,
    /// How long an agent counts as reachable, and how long history is kept.
    pub limits: Limits,
    /// Time of all decisions and rows.
    pub clock: Arc<dyn Clock>,
    /// Receives the events of this stage.
    pub events: Arc<Events>,
    /// Where moves are computed and entered.
    pub hierarchy: Arc<CurrentHierarchy>,
    /// Calibration, and the strategy of searches that are opened again.
    pub policy: Arc<CurrentPolicy>,
    /// Notifies agents that get or lose subnets.
    pub agent_wakeups: Arc<AgentWakeups>,
    /// Which subnets may move within their regions.
    pub region_moves: Arc<CurrentRegionMoves>,
    /// Estimates the costs of moves.
    pub predictor: Arc<Predictor>,
    /// Opens searches for subnets that need another agent.
    pub search: Arc<DelegationSearch>,
    /// Forgotten when routes are withdrawn, so that their URLs are routed again.
    pub recent_urls: Arc<RecentUrls>,
    /// Where the subnets of pins begin.
    pub pinned_ranges: PinnedRanges,
    /// How far `delegate_remapped` has come.
    pub host_walk: HostWalk,
    /// How far `drain_agents` has come with each agent.
    pub drain_positions: DrainPositions,
    /// When `balance_load` last found nothing to relieve an agent.
    pub vain_relief: VainRelief,
    /// How far `forget_history` has come.
    pub history: HistoryPosition,
    /// What the last audit was made from; none before the first.
    pub audited: tokio::sync::Mutex<Option<AuditInput>>,
    /// Findings of the last audit.
    pub last_audit: LastAudit,
}
