//! Unregistered space: virtual subnets for hosts that no registry's record holds.
//!
//! The database has the ranges. Each coordinator adds them to the hierarchy in memory, whose ids
//! change with that. The tree is built again each time, so additions are collected and bounded.

use std::cmp::Ordering;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use hierarchy::{Hierarchy, HostSubnet, PrefixLengths, Range};
use store::{Store, StoreError, unregistered_subnets};

use crate::runtime::clock::Clock;
use crate::runtime::delegated_hierarchy::{CurrentHierarchy, DelegatedHierarchy};

/// After an addition the next one waits for this multiple of the time that building the tree took,
/// so that additions take at most a twentieth of a processor.
const REST: u32 = 20;

/// Places hosts in unregistered space.
pub struct UnregisteredSpace {
    pub store: Store,
    /// Time of the rows.
    pub clock: Arc<dyn Clock>,
    /// Where virtual subnets are added.
    pub hierarchy: Arc<CurrentHierarchy>,
    /// Sizes of the virtual subnets.
    pub lengths: PrefixLengths,
    /// Most virtual subnets of unregistered space.
    pub limit: u32,
    /// No addition before this.
    pub rests_until: Mutex<Option<Instant>>,
}

/// Outcome of an addition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Addition {
    /// The hierarchy in use has the ranges, or the first of them if there is no room for all.
    Added,
    /// Try again later: the last addition was a moment ago, or the hierarchy was replaced.
    Later,
    /// There are as many virtual subnets of unregistered space as the configuration allows.
    Full,
}

impl UnregisteredSpace {
    /// The subnet that a host at this address belongs to.
    pub fn host_subnet(&self, hierarchy: &Hierarchy, address: IpAddr) -> HostSubnet {
        hierarchy.host_subnet(address, self.lengths)
    }

    /// Adds virtual subnets to the hierarchy in use, unless the last addition was a moment ago. The
    /// caller does not hold the lock for changing delegations.
    pub async fn add(&self, ranges: &[Range]) -> Result<Addition, anyhow::Error> {
        if self.rests_until().is_some_and(|until| Instant::now() < until) {
            return Ok(Addition::Later);
        }
        self.add_at_once(ranges).await
    }

    /// Adds virtual subnets also a moment after the last addition, for what happens once in a
    /// generation; those that there is room for. The caller does not hold the lock for changing
    /// delegations.
    pub async fn add_at_once(&self, ranges: &[Range]) -> Result<Addition, anyhow::Error> {
        let Some(base) = self.hierarchy.current() else { return Ok(Addition::Later) };
        let count = unregistered_subnets::count(&self.store).await?;
        let room = u64::from(self.limit).saturating_sub(count);
        let ranges = &ranges[..ranges.len().min(usize::try_from(room)?)];
        if ranges.is_empty() {
            // The hierarchy in use may lack ranges that are stored, perhaps these: it was replaced
            // while they were added, or another coordinator added them.
            let has_all = count <= self.hierarchy.unregistered();
            return Ok(if has_all { Addition::Full } else { Addition::Later });
        }
        let began = Instant::now();
        let hierarchy = with_ranges(Arc::clone(base.hierarchy()), ranges.to_vec()).await?;
        self.rest_after(began.elapsed());
        unregistered_subnets::add(&self.store, ranges, self.clock.now()).await?;
        let count = unregistered_subnets::count(&self.store).await?;
        let writing = self.hierarchy.writing().await;
        let is_same = |current: Arc<DelegatedHierarchy>| Arc::ptr_eq(&current, &base);
        if !self.hierarchy.current().is_some_and(is_same) {
            // The ranges are stored: the next hierarchy has them.
            return Ok(Addition::Later);
        }
        tracing::info!(ranges = ranges.len(), "unregistered space was made virtual subnets");
        self.hierarchy.replace(Arc::new(base.on(hierarchy)), &writing);
        self.hierarchy.set_unregistered(count);
        Ok(Addition::Added)
    }

    fn rests_until(&self) -> Option<Instant> {
        *self.rests_until.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn rest_after(&self, took: Duration) {
        let until = Instant::now() + took * REST;
        *self.rests_until.lock().unwrap_or_else(PoisonError::into_inner) = Some(until);
    }
}

/// The hierarchy with all stored ranges of unregistered space, and their number.
pub async fn complete(
    store: &Store,
    hierarchy: Arc<Hierarchy>,
) -> Result<(Arc<Hierarchy>, u64), anyhow::Error> {
    let ranges = unregistered_subnets::all(store).await?;
    let count = ranges.len() as u64;
    Ok((with_ranges(hierarchy, ranges).await?, count))
}

/// How the stored ranges compare with those of the hierarchy in use.
pub async fn compare(store: &Store, current: &CurrentHierarchy) -> Result<Ordering, StoreError> {
    Ok(unregistered_subnets::count(store).await?.cmp(&current.unregistered()))
}

/// Builds on a thread that may block: at full size it takes seconds.
async fn with_ranges(
    hierarchy: Arc<Hierarchy>,
    ranges: Vec<Range>,
) -> Result<Arc<Hierarchy>, anyhow::Error> {
    if ranges.is_empty() {
        return Ok(hierarchy);
    }
    let building = tokio::task::spawn_blocking(move || {
        let added = hierarchy.with_unregistered(hierarchy.generation(), &ranges);
        added.map_or(hierarchy, Arc::new)
    });
    Ok(building.await?)
}
