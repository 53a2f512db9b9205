//! The hierarchy and the delegation table in memory, on which all decisions are computed.
//!
//! Ids of subnets are valid within one generation only, so both are replaced together. Postgres
//! has the authoritative state: both are read from it at start, for a new generation, and after
//! many delegations changed at once.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use arc_swap::ArcSwapOption;
use delegation::{Delegation, DelegationTable};
use hierarchy::{Generation, Hierarchy, Range, SubnetId};
use model::AgentId;
use store::delegations::{self, ActiveDelegation, SubnetState};
use store::{Store, StoreError};
use tokio::sync::{Mutex, MutexGuard};

/// The entry of the delegation table for a row.
pub(crate) fn delegation_of(held: &ActiveDelegation) -> Delegation {
    Delegation { agent: held.agent, reason: held.reason }
}

/// One generation of the hierarchy with its delegation table.
#[derive(Debug)]
pub struct DelegatedHierarchy {
    hierarchy: Arc<Hierarchy>,
    delegation_table: RwLock<DelegationTable>,
    /// Rises with each change of any table of the process.
    version: AtomicU64,
}

/// The last version that was given to a table.
static VERSIONS: AtomicU64 = AtomicU64::new(0);

fn next_version() -> u64 {
    VERSIONS.fetch_add(1, Ordering::Relaxed) + 1
}

impl DelegatedHierarchy {
    /// Combines a hierarchy with the delegations that hold now. A delegation of a subnet that this
    /// generation lacks, or that may not be delegated, stays in Postgres and continues to route
    /// URLs, but searches and balance do not see it.
    pub fn new(hierarchy: Arc<Hierarchy>, held: &[ActiveDelegation]) -> Self {
        let entries = held.iter().filter_map(|held| {
            let delegation = delegation_of(held);
            Some((hierarchy.find_delegable(&held.subnet)?, delegation))
        });
        let delegation_table = DelegationTable::of(&hierarchy, entries);
        if delegation_table.len() < held.len() {
            let missing = held.len() - delegation_table.len();
            tracing::warn!(
                missing,
                "delegations name subnets that this generation of the hierarchy does not have, or \
                 that may not be delegated"
            );
        }
        let version = AtomicU64::new(next_version());
        Self { delegation_table: RwLock::new(delegation_table), hierarchy, version }
    }

    /// Number of the present state of the table, unique among all tables of the process.
    pub fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    /// The same delegations on a hierarchy with more subnets.
    #[must_use]
    pub fn on(&self, hierarchy: Arc<Hierarchy>) -> Self {
        let table = self.delegation_table();
        let entries = table.iter().filter_map(|(subnet, delegation)| {
            let range = self.hierarchy.subnet(subnet).range();
            Some((hierarchy.find(&range)?, delegation))
        });
        let moved = DelegationTable::of(&hierarchy, entries);
        drop(table);
        let version = AtomicU64::new(next_version());
        Self { delegation_table: RwLock::new(moved), hierarchy, version }
    }

    /// The hierarchy, without the delegations.
    pub fn hierarchy(&self) -> &Arc<Hierarchy> {
        &self.hierarchy
    }

    /// The delegation table, locked for reading. Never hold the guard across an await.
    pub fn delegation_table(&self) -> RwLockReadGuard<'_, DelegationTable> {
        self.delegation_table.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// The agent of a subnet by the table; none also where the hierarchy lacks the range or it may
    /// not be delegated.
    pub fn agent_of(&self, subnet: &Range) -> Option<AgentId> {
        let subnet = self.hierarchy.find_delegable(subnet)?;
        self.delegation_table().agent_of(subnet)
    }

    /// Sets the entry of a subnet to what the store has. Returns the former and the new agent
    /// if the entry changes. Hold [`CurrentHierarchy::writing`] from before the store was read.
    pub fn follow(&self, state: &SubnetState) -> Vec<AgentId> {
        let Some(subnet) = self.hierarchy.find(&state.subnet) else { return Vec::new() };
        let after = state.held.as_ref().map(delegation_of);
        let before = self.delegation_table().get(subnet);
        if before == after {
            return Vec::new();
        }
        self.put(subnet, after);
        [before, after].into_iter().flatten().map(|delegation| delegation.agent).collect()
    }

    /// Overwrites the entry of a subnet with a delegation, or with none, and returns the former
    /// one. Hold [`CurrentHierarchy::writing`] until a new delegation is committed.
    pub fn put(&self, subnet: SubnetId, delegation: Option<Delegation>) -> Option<Delegation> {
        let mut delegation_table =
            self.delegation_table.write().unwrap_or_else(PoisonError::into_inner);
        self.version.store(next_version(), Ordering::Release);
        match delegation {
            Some(delegation) => delegation_table.insert(&self.hierarchy, subnet, delegation),
            None => delegation_table.remove(&self.hierarchy, subnet),
        }
    }
}

/// The delegated hierarchy in use; `None` until registry data was loaded.
#[derive(Debug, Default)]
pub struct CurrentHierarchy {
    current: ArcSwapOption<DelegatedHierarchy>,
    writing: Mutex<()>,
    /// Number of the generation that this coordinator remapped delegations to; 0 for none.
    remapped: AtomicI64,
    /// Rises with each remap.
    remaps: AtomicU64,
    /// Number of the ranges of unregistered space that the hierarchy in use has as virtual subnets.
    unregistered: AtomicU64,
}

impl CurrentHierarchy {
    /// The delegated hierarchy in use; a new generation does not change what was returned.
    pub fn current(&self) -> Option<Arc<DelegatedHierarchy>> {
        self.current.load_full()
    }

    /// Whether this coordinator remapped the delegations to that generation.
    pub fn is_remapped(&self, generation: Generation) -> bool {
        self.remapped.load(Ordering::Acquire) == generation.get()
    }

    /// Stores that the delegations were remapped to that generation.
    pub fn set_remapped(&self, generation: Generation) {
        self.remaps.fetch_add(1, Ordering::AcqRel);
        self.remapped.store(generation.get(), Ordering::Release);
    }

    /// A number that rises with each remap, also of the same generation.
    pub fn remaps(&self) -> u64 {
        self.remaps.load(Ordering::Acquire)
    }

    /// How many ranges of unregistered space were virtual subnets when they were last read.
    pub fn unregistered(&self) -> u64 {
        self.unregistered.load(Ordering::Acquire)
    }

    /// Stores how many ranges of unregistered space are virtual subnets.
    pub fn set_unregistered(&self, ranges: u64) {
        self.unregistered.store(ranges, Ordering::Release);
    }

    /// The lock for changing delegations. Hold it from before the transaction until the delegation
    /// table has the change, so that a table that is being read again misses none.
    pub async fn writing(&self) -> MutexGuard<'_, ()> {
        self.writing.lock().await
    }

    /// Puts another delegated hierarchy in use. The guard proves that no delegation changes
    /// meanwhile.
    pub fn replace(&self, delegated: Arc<DelegatedHierarchy>, _writing: &MutexGuard<'_, ()>) {
        self.current.store(Some(delegated));
    }

    /// Enters what was committed about a subnet: its delegation, or none. Returns the former one.
    /// Hold [`Self::writing`] from before the transaction.
    pub fn enter(&self, subnet: &Range, delegation: Option<Delegation>) -> Option<Delegation> {
        let delegated = self.current()?;
        let subnet = delegated.hierarchy().find(subnet)?;
        delegated.put(subnet, delegation)
    }

    /// Removes the delegations of an agent that was revoked.
    pub fn remove_agent(&self, agent: AgentId) {
        let Some(delegated) = self.current() else { return };
        let held: Vec<SubnetId> = delegated.delegation_table().subnets_of(agent).collect();
        for subnet in held {
            delegated.put(subnet, None);
        }
    }

    /// Reads all delegations again, after many of them changed at once.
    pub async fn reload_delegations(
        &self,
        store: &Store,
        writing: &MutexGuard<'_, ()>,
    ) -> Result<(), StoreError> {
        if let Some(delegated) = self.current() {
            let held = delegations::list_active(store).await?;
            let reloaded = DelegatedHierarchy::new(Arc::clone(delegated.hierarchy()), &held);
            self.replace(Arc::new(reloaded), writing);
        }
        Ok(())
    }
}
