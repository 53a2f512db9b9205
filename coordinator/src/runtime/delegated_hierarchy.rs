//! The hierarchy with the delegations on it, in memory: the map that decisions are thought out on.
//!
//! Ids of subnets mean something within one generation only, so hierarchy and delegation table are replaced
//! together. Postgres is the truth; the delegated hierarchy is rebuilt from it at start, for a new generation,
//! and after whatever changes many delegations at once.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use arc_swap::ArcSwapOption;
use delegation::{Delegation, DelegationTable};
use hierarchy::{Generation, Hierarchy, SubnetId};
use model::Reason;
use store::delegations::Held;
use tokio::sync::{Mutex, MutexGuard};

/// What the delegation table says of a delegation; none for a reason that no version of the coordinator writes.
pub(crate) fn holding_of(held: &Held) -> Option<Delegation> {
    Some(Delegation { agent: held.agent, reason: held.reason.parse::<Reason>().ok()? })
}

/// One generation of the hierarchy and who holds what on it.
#[derive(Debug)]
pub struct DelegatedHierarchy {
    hierarchy: Arc<Hierarchy>,
    delegation_table: RwLock<DelegationTable>,
}

impl DelegatedHierarchy {
    /// With the delegations that hold now. Those whose subnet this generation does not know stay in
    /// Postgres, where routes are made, but no search meets them.
    pub fn new(hierarchy: Arc<Hierarchy>, held: &[Held]) -> Self {
        let entries = held.iter().filter_map(|held| {
            let holding = holding_of(held)?;
            Some((hierarchy.find(&held.subnet)?, holding))
        });
        let delegation_table = DelegationTable::of(&hierarchy, entries);
        if delegation_table.len() < held.len() {
            let missing = held.len() - delegation_table.len();
            tracing::warn!(
                missing,
                "delegations name subnets that this generation of the hierarchy does not have"
            );
        }
        Self { delegation_table: RwLock::new(delegation_table), hierarchy }
    }

    /// The hierarchy.
    pub fn hierarchy(&self) -> &Arc<Hierarchy> {
        &self.hierarchy
    }

    /// Who holds what. Held for moments only, never across an await.
    pub fn delegation_table(&self) -> RwLockReadGuard<'_, DelegationTable> {
        self.delegation_table.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Enters a delegation, and gives who held the subnet before. Until it is committed nobody else
    /// may change delegations ([`CurrentHierarchy::writing`]).
    pub fn enter(&self, subnet: SubnetId, holding: Delegation) -> Option<Delegation> {
        let mut delegation_table =
            self.delegation_table.write().unwrap_or_else(PoisonError::into_inner);
        delegation_table.insert(&self.hierarchy, subnet, holding)
    }

    /// Takes back what [`DelegatedHierarchy::enter`] did, which gave `before`.
    pub fn take_back(&self, subnet: SubnetId, before: Option<Delegation>) {
        self.put(subnet, before);
    }

    /// Makes the delegation table say of a subnet what is known to be so: who holds it, or that nobody does.
    pub fn put(&self, subnet: SubnetId, holding: Option<Delegation>) {
        let mut delegation_table =
            self.delegation_table.write().unwrap_or_else(PoisonError::into_inner);
        match holding {
            Some(holding) => drop(delegation_table.insert(&self.hierarchy, subnet, holding)),
            None => drop(delegation_table.remove(&self.hierarchy, subnet)),
        }
    }
}

/// The delegated hierarchy in use; none until registry data was loaded.
#[derive(Debug, Default)]
pub struct CurrentHierarchy {
    current: ArcSwapOption<DelegatedHierarchy>,
    writing: Mutex<()>,
    /// Number of the generation that delegations were carried over to.
    carried: AtomicI64,
}

impl CurrentHierarchy {
    /// The delegated hierarchy in use.
    pub fn current(&self) -> Option<Arc<DelegatedHierarchy>> {
        self.current.load_full()
    }

    /// Whether this coordinator carried the delegations over to that generation.
    pub fn is_carried(&self, generation: Generation) -> bool {
        self.carried.load(Ordering::Acquire) == generation.get()
    }

    /// They were carried over to that generation.
    pub fn set_carried(&self, generation: Generation) {
        self.carried.store(generation.get(), Ordering::Release);
    }

    /// Held by whoever changes delegations, from before the transaction until the delegated hierarchy shows it:
    /// so that an delegated hierarchy that is being rebuilt misses none.
    pub async fn writing(&self) -> MutexGuard<'_, ()> {
        self.writing.lock().await
    }

    /// Puts another delegated hierarchy in its place. The guard shows that nobody else changes delegations
    /// meanwhile.
    pub fn replace(&self, delegated: Arc<DelegatedHierarchy>, _writing: &MutexGuard<'_, ()>) {
        self.current.store(Some(delegated));
    }
}
