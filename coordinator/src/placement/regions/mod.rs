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
mod region_leader;
pub mod restored;
pub mod state;
pub mod take_over_subnets;

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, PoisonError};

use model::{AgentId, RegionId, UnixMillis};
use protocol::key::CoordinatorKey;
use region::Millis;
use store::{Store, StoreError, Term};
use tokio::sync::{Mutex, Notify};

use crate::runtime::agent_wakeups::AgentWakeups;
use crate::runtime::clock::Clock;
use crate::runtime::config::RegionRules;
use crate::runtime::delegated_hierarchy::CurrentHierarchy;
use crate::runtime::events::Events;
use crate::runtime::leader::Leader;
use crate::runtime::region_moves::CurrentRegionMoves;
use region_leader::RegionLeader;

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
    pub(crate) leaders: Mutex<RegionLeaders>,
    /// Notifies the calls that agents hold open.
    pub(crate) arrivals: std::sync::Mutex<HashMap<AgentId, Arc<Notify>>>,
}

/// All regions, while this coordinator is the leader.
#[derive(Default)]
pub(crate) struct RegionLeaders {
    /// The term in which they were read.
    term: Term,
    /// None until they were read from the database.
    by_region: Option<BTreeMap<RegionId, RegionLeader>>,
    /// Stored regions that cannot be read, by name. No other region may take their names and
    /// members, which may still have a loan.
    unreadable: BTreeMap<RegionId, String>,
    /// Candidates of regions that are not formed, as of the last run.
    waiting: BTreeMap<String, Vec<AgentId>>,
    /// When regions that ended were last deleted.
    last_deletion: Option<Millis>,
}

impl RegionLeaders {
    fn of_name(&mut self, name: &str) -> Option<(RegionId, &mut RegionLeader)> {
        let mut leaders = self.by_region.iter_mut().flatten();
        leaders.find(|(_, leader)| leader.name == name).map(|(id, leader)| (*id, leader))
    }

    /// The region that an agent is in. It may also be in the roster of one that it left. Where
    /// nothing else tells them apart, it is the one that the agent knows.
    fn of_agent(&mut self, agent: AgentId, known: Option<RegionId>) -> Option<&mut RegionLeader> {
        let leaders = self.by_region.as_mut()?.iter_mut();
        let leaders = leaders.filter(|(_, leader)| leader.protocol.view().has(agent));
        let of_agent =
            leaders.min_by_key(|(id, leader)| (!leader.has_wanted(agent), known != Some(**id)));
        of_agent.map(|(_, leader)| leader)
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
