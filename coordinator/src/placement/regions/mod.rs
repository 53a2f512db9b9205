//! Regions: agents that share hosts among themselves, with or without the coordinator.
//!
//! The leader is the coordinator of all regions. It forms them ([`form_regions`]), signs rosters
//! and changes of delegations, lends hosts, votes on leases and passes envelopes on ([`calls`]).
//! What it promises is stored before it is said, so that the next leader keeps it. It takes over
//! what a region decided about dead members ([`take_over_subnets`]), by what the members report
//! ([`availability`]), and shows its state to people ([`state`]).

mod availability;
mod calls;
#[cfg(test)]
mod example;
pub mod form_regions;
mod members;
mod ranges;
pub mod restored;
mod seat;
pub mod state;
pub mod take_over_subnets;

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, PoisonError};

use model::{AgentId, RegionId, UnixMillis};
use protocol::key::CoordinatorKey;
use store::{Store, StoreError, Term};
use tokio::sync::{Mutex, Notify};

use crate::runtime::agent_wakeups::AgentWakeups;
use crate::runtime::clock::Clock;
use crate::runtime::config::RegionRules;
use crate::runtime::delegated_hierarchy::CurrentHierarchy;
use crate::runtime::events::Events;
use crate::runtime::leader::Leader;
use crate::runtime::region_moves::CurrentRegionMoves;
use seat::LeaderState;

pub use calls::CallError;

/// The parts that regions use.
pub struct Regions {
    pub store: Store,
    /// Whether and how regions are formed.
    pub rules: RegionRules,
    /// Days after their last loan for which regions without members are kept; 0 for ever.
    pub history_days: u32,
    pub clock: Arc<dyn Clock>,
    pub hierarchy: Arc<CurrentHierarchy>,
    pub leader: Arc<Leader>,
    /// Receives changes of delegations.
    pub events: Arc<Events>,
    /// Notifies agents that get or lose subnets.
    pub agent_wakeups: Arc<AgentWakeups>,
    /// Which subnets may move within their regions.
    pub moves: Arc<CurrentRegionMoves>,
    /// Signs rosters, changes and messages.
    pub key: Arc<CoordinatorKey>,
    pub(crate) seats: Mutex<LeaderStates>,
    /// Notifies the calls that agents hold open.
    pub(crate) arrivals: std::sync::Mutex<HashMap<AgentId, Arc<Notify>>>,
}

/// The coordinator's seat in each region, while it is the leader.
#[derive(Default)]
pub(crate) struct LeaderStates {
    /// The term in which they were read.
    term: Term,
    /// None until they were read from the database.
    by_region: Option<BTreeMap<RegionId, LeaderState>>,
    /// Stored regions that cannot be read, by name. No other region may take their names and
    /// members, which may still have a loan.
    resting: BTreeMap<RegionId, String>,
    /// Candidates of regions that are not formed, as of the last run.
    waiting: BTreeMap<String, Vec<AgentId>>,
}

impl LeaderStates {
    fn of_name(&mut self, name: &str) -> Option<(RegionId, &mut LeaderState)> {
        let mut seats = self.by_region.iter_mut().flatten();
        seats.find(|(_, seat)| seat.name == name).map(|(id, seat)| (*id, seat))
    }

    /// The region that an agent is in. It may also be in the roster of one that it left.
    fn of_agent(&mut self, agent: AgentId) -> Option<&mut LeaderState> {
        let seats = self.by_region.as_mut()?.values_mut();
        let seats = seats.filter(|seat| seat.machine.view().has(agent));
        seats.min_by_key(|seat| !seat.has_wanted(agent))
    }
}

impl Regions {
    fn now(&self) -> UnixMillis {
        self.clock.now()
    }

    /// What came of a statement that is fenced by the term. A deposed leader stops leading, and
    /// forgets what it has in memory: the database has other promises now.
    fn fenced<T>(&self, term: Term, result: Result<T, StoreError>) -> Result<T, CallError> {
        result.map_err(|error| match error {
            StoreError::Deposed => {
                self.leader.end_deposed(term);
                CallError::NotLeader
            }
            other => CallError::Store(other),
        })
    }

    /// The signal of an agent's open call. Register with it before looking for news.
    fn arrival(&self, agent: AgentId) -> Arc<Notify> {
        let mut arrivals = self.arrivals.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(arrivals.entry(agent).or_default())
    }

    fn notify(&self, agents: impl IntoIterator<Item = AgentId>) {
        let arrivals = self.arrivals.lock().unwrap_or_else(PoisonError::into_inner);
        for agent in agents {
            if let Some(arrival) = arrivals.get(&agent) {
                arrival.notify_waiters();
            }
        }
    }
}

/// Whether another coordinator leads now, which this one has found out.
fn is_deposed(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(CallError::NotLeader))
}
