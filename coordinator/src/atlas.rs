//! The hierarchy with the delegations on it, in memory: the map that decisions are thought out on.
//!
//! Ids of subnets mean something within one generation only, so hierarchy and book are replaced
//! together. Postgres is the truth; the atlas is rebuilt from it at start, for a new generation,
//! and after whatever changes many delegations at once.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use arc_swap::ArcSwapOption;
use delegation::{Book, Holding, Reason};
use hierarchy::{Generation, Hierarchy, SubnetId};
use store::delegations::Held;
use tokio::sync::{Mutex, MutexGuard};

/// What the book says of a delegation; none for a reason that no version of the coordinator writes.
pub(crate) fn holding_of(held: &Held) -> Option<Holding> {
    Some(Holding { agent: held.agent, reason: Reason::from_word(&held.reason)? })
}

/// One generation of the hierarchy and who holds what on it.
#[derive(Debug)]
pub struct Atlas {
    hierarchy: Arc<Hierarchy>,
    book: RwLock<Book>,
}

impl Atlas {
    /// With the delegations that hold now. Those whose subnet this generation does not know stay in
    /// Postgres, where routes are made, but no search meets them.
    pub fn new(hierarchy: Arc<Hierarchy>, held: &[Held]) -> Self {
        let entries = held.iter().filter_map(|held| {
            let holding = holding_of(held)?;
            Some((hierarchy.find(&held.subnet)?, holding))
        });
        let book = Book::of(&hierarchy, entries);
        if book.len() < held.len() {
            let missing = held.len() - book.len();
            tracing::warn!(
                missing,
                "delegations name subnets that this generation of the hierarchy does not have"
            );
        }
        Self { book: RwLock::new(book), hierarchy }
    }

    /// The hierarchy.
    pub fn hierarchy(&self) -> &Arc<Hierarchy> {
        &self.hierarchy
    }

    /// Who holds what. Held for moments only, never across an await.
    pub fn book(&self) -> RwLockReadGuard<'_, Book> {
        self.book.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Enters a delegation, and gives who held the subnet before. Until it is committed nobody else
    /// may change delegations ([`Atlases::writing`]).
    pub fn enter(&self, subnet: SubnetId, holding: Holding) -> Option<Holding> {
        let mut book = self.book.write().unwrap_or_else(PoisonError::into_inner);
        book.insert(&self.hierarchy, subnet, holding)
    }

    /// Takes back what [`Atlas::enter`] did, which gave `before`.
    pub fn take_back(&self, subnet: SubnetId, before: Option<Holding>) {
        self.put(subnet, before);
    }

    /// Makes the book say of a subnet what is known to be so: who holds it, or that nobody does.
    pub fn put(&self, subnet: SubnetId, holding: Option<Holding>) {
        let mut book = self.book.write().unwrap_or_else(PoisonError::into_inner);
        match holding {
            Some(holding) => drop(book.insert(&self.hierarchy, subnet, holding)),
            None => drop(book.remove(&self.hierarchy, subnet)),
        }
    }
}

/// The atlas in use; none until registry data was loaded.
#[derive(Debug, Default)]
pub struct Atlases {
    current: ArcSwapOption<Atlas>,
    writing: Mutex<()>,
    /// Number of the generation that delegations were carried over to.
    carried: AtomicI64,
}

impl Atlases {
    /// The atlas in use.
    pub fn current(&self) -> Option<Arc<Atlas>> {
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

    /// Held by whoever changes delegations, from before the transaction until the atlas shows it:
    /// so that an atlas that is being rebuilt misses none.
    pub async fn writing(&self) -> MutexGuard<'_, ()> {
        self.writing.lock().await
    }

    /// Puts another atlas in its place. The guard shows that nobody else changes delegations
    /// meanwhile.
    pub fn replace(&self, atlas: Arc<Atlas>, _writing: &MutexGuard<'_, ()>) {
        self.current.store(Some(atlas));
    }
}
