//! Registry data: downloads it, puts a new generation in use, and remaps what refers to subnets.

pub mod generation_listener;
pub mod refresh;
pub mod refresh_registries;
pub mod reload_hierarchy;
pub mod remap;
pub mod remap_hosts;
pub mod snapshots;
pub mod split_subnets;
pub mod unregistered_space;

use std::sync::Arc;

use store::Store;
use tokio_util::sync::CancellationToken;

use crate::registry::refresh::LastAttempt;
use crate::registry::unregistered_space::UnregisteredSpace;
use crate::runtime::agent_wakeups::AgentWakeups;
use crate::runtime::clock::Clock;
use crate::runtime::config::Config;
use crate::runtime::delegated_hierarchy::CurrentHierarchy;
use crate::runtime::events::Events;
use crate::runtime::leader::Leader;

/// The parts that the tasks of this stage use.
pub struct RegistryData {
    pub store: Store,
    /// Paths, the database of the loader, and the ages at which data is refreshed.
    pub config: Arc<Config>,
    /// Time of all decisions and rows.
    pub clock: Arc<dyn Clock>,
    /// Receives the events of this stage.
    pub events: Arc<Events>,
    /// Where a new generation is put in use.
    pub hierarchy: Arc<CurrentHierarchy>,
    /// Notifies agents whose hosts moved.
    pub agent_wakeups: Arc<AgentWakeups>,
    /// Only the leader remaps delegations and hosts.
    pub leader: Arc<Leader>,
    /// Makes virtual subnets of unregistered space.
    pub unregistered_space: Arc<UnregisteredSpace>,
    /// When the last refresh of the data began that ended by itself, successfully or not.
    pub last_refresh: LastAttempt,
    /// When the loader last split subnets.
    pub last_split: LastAttempt,
    /// Ends a running loader when the coordinator stops.
    pub stop: CancellationToken,
}
