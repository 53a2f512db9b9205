//! The wiring of a coordinator: its stages and what they share, built once by `startup::boot`.
//!
//! Only the task driver and the HTTP state hold this struct. Functions of a stage take the stage or
//! single parts of it.

use std::sync::Arc;

use model::UnixMillis;
use store::Store;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::intake::Intake;
use crate::packages::Packages;
use crate::placement::Placement;
use crate::placement::regions::Regions;
use crate::predictor::Predictor;
use crate::registry::RegistryData;
use crate::runtime::agent_wakeups::AgentWakeups;
use crate::runtime::clock::Clock;
use crate::runtime::config::Config;
use crate::runtime::delegated_hierarchy::{CurrentHierarchy, DelegatedHierarchy};
use crate::runtime::events::Events;
use crate::runtime::hidden_pages::CurrentHiddenPages;
use crate::runtime::leader::Leader;
use crate::runtime::metrics::requests::RequestMetrics;
use crate::runtime::peer_hints::PeerHints;
use crate::runtime::policy::CurrentPolicy;
use crate::runtime::silent_hosts::CurrentSilentHosts;
use crate::search::DelegationSearch;
use crate::tasks::Statuses;

/// All parts of a running coordinator.
pub struct Coordinator {
    /// Values that are fixed while it runs.
    pub config: Arc<Config>,
    /// Time of all decisions and rows.
    pub clock: Arc<dyn Clock>,
    /// When the process started.
    pub started_at: UnixMillis,
    pub store: Store,
    /// Notifies tasks and refreshes dashboards.
    pub events: Arc<Events>,
    /// The hierarchy with the delegation table.
    pub hierarchy: Arc<CurrentHierarchy>,
    /// Settings that admins change.
    pub policy: Arc<CurrentPolicy>,
    /// What admins have hidden from the search.
    pub hidden_pages: Arc<CurrentHiddenPages>,
    /// Hosts that searches leave out, because they have not answered for long.
    pub silent_hosts: Arc<CurrentSilentHosts>,
    /// Notifies the heartbeats that agents hold open.
    pub agent_wakeups: Arc<AgentWakeups>,
    /// Notified when agents have answered questions about URLs.
    pub url_answers: Arc<Notify>,
    /// Hints that wait to be sent to the other coordinators.
    pub peer_hints: Arc<PeerHints>,
    /// Whether this coordinator is the leader.
    pub leader: Arc<Leader>,
    /// Results of the background tasks.
    pub statuses: Arc<Statuses>,
    /// Counts the requests of its HTTP interface.
    pub request_metrics: RequestMetrics,
    /// Cancelled when the coordinator stops.
    pub stop: CancellationToken,
    /// Refreshes and remaps the hierarchy.
    pub registry: Arc<RegistryData>,
    /// Brings URLs to agents.
    pub intake: Arc<Intake>,
    /// Predicts which agent is nearest.
    pub predictor: Arc<Predictor>,
    /// Finds an agent for a subnet.
    pub search: Arc<DelegationSearch>,
    /// Moves subnets between agents.
    pub placement: Arc<Placement>,
    /// Receives and ingests packages.
    pub packages: Arc<Packages>,
    /// Forms regions and takes part in them.
    pub regions: Arc<Regions>,
}

impl Coordinator {
    /// The time of the coordinator's clock.
    pub fn now(&self) -> UnixMillis {
        self.clock.now()
    }

    /// An agent without a heartbeat since then counts as unreachable.
    pub fn heartbeat_cutoff(&self) -> UnixMillis {
        self.config.limits.heartbeat_cutoff(self.now())
    }

    /// Whether this coordinator is the leader.
    pub fn is_leader(&self) -> bool {
        self.leader.is_leader()
    }

    /// The hierarchy in use with its delegation table; `None` until registry data was loaded.
    pub fn delegated(&self) -> Option<Arc<DelegatedHierarchy>> {
        self.hierarchy.current()
    }
}
