//! Intake: from a seed or a discovered link to a host with an address, a subnet and an agent.

pub mod dns;
pub mod end_leases;
pub mod free_hosts;
pub mod place_hosts;
pub mod quota;
pub mod recent_urls;
pub mod resolve_hosts;
pub mod route_urls;
pub mod seed_checks;
pub mod seeds;
pub mod zones;

use std::sync::{Arc, Mutex};

use store::Store;
use tokio_util::sync::CancellationToken;

use crate::intake::dns::Dns;
use crate::intake::recent_urls::RecentUrls;
use crate::intake::zones::Zones;
use crate::registry::unregistered_space::UnregisteredSpace;
use crate::runtime::agent_wakeups::AgentWakeups;
use crate::runtime::clock::Clock;
use crate::runtime::config::Limits;
use crate::runtime::delegated_hierarchy::CurrentHierarchy;
use crate::runtime::events::Events;

/// The parts that the tasks of this stage use.
pub struct Intake {
    pub store: Store,
    /// Bounds on lookups, routes and leases.
    pub limits: Limits,
    /// Time of all decisions and rows.
    pub clock: Arc<dyn Clock>,
    /// Receives the events of this stage.
    pub events: Arc<Events>,
    /// Finds the subnet of an address.
    pub hierarchy: Arc<CurrentHierarchy>,
    /// Makes virtual subnets of unregistered space.
    pub unregistered_space: Arc<UnregisteredSpace>,
    /// Notifies agents that get URLs.
    pub agent_wakeups: Arc<AgentWakeups>,
    /// Looks up the addresses of hosts.
    pub dns: Arc<Dns>,
    /// Zones whose servers are silent.
    pub zones: Mutex<Zones>,
    /// URLs that were routed lately, so that repeats are dropped early.
    pub recent_urls: Arc<RecentUrls>,
    /// Cancelled when the coordinator stops: lookups in progress are dropped then.
    pub stop: CancellationToken,
}
