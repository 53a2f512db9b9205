//! The hosts that have not answered for long, in memory, so that searches need no database.

use std::sync::Arc;

use arc_swap::ArcSwap;
use index::{HiddenPages, Index};
use store::Store;
use store::silent_hosts;

use crate::runtime::outcome::Outcome;
use crate::runtime::quantity::quantity;

/// The silent hosts, as last read from the database.
#[derive(Debug)]
pub struct CurrentSilentHosts {
    store: Store,
    /// Most hosts in the list: each takes some 70 bytes of memory, twice that during a refresh.
    limit: u32,
    list: ArcSwap<List>,
}

/// The silent hosts at one time.
#[derive(Debug)]
struct List {
    count: usize,
    pages: HiddenPages,
}

impl CurrentSilentHosts {
    /// Reads the list for the first time.
    pub async fn read(store: Store, limit: u32) -> Result<Self, anyhow::Error> {
        let list = List::of(silent_hosts::list(&store, limit).await?).await?;
        Ok(Self { store, limit, list: ArcSwap::from_pointee(list) })
    }

    /// Number of hosts that searches leave out now.
    pub fn count(&self) -> usize {
        self.list.load().count
    }

    /// Most hosts that searches leave out.
    pub fn limit(&self) -> u32 {
        self.limit
    }

    /// Pages that searches leave out now.
    pub fn load(&self) -> HiddenPages {
        self.list.load().pages.clone()
    }

    /// The background task that follows the list. Every coordinator answers searches.
    pub async fn refresh(&self, index: &Arc<Index>) -> Result<Outcome, anyhow::Error> {
        let read = List::of(silent_hosts::list(&self.store, self.limit).await?).await?;
        let known = self.list.load_full();
        let is_new = read.pages != known.pages;
        let list = if is_new { Arc::new(read) } else { known };
        // Before searches use it: with many hosts it takes longer than a search may.
        find_pages(index, &list.pages).await?;
        if !is_new {
            return Ok(Outcome::Idle);
        }
        let count = list.count;
        self.list.store(list);
        if count >= self.limit as usize {
            tracing::warn!(count, "only so many silent hosts are left out of searches");
        }
        Ok(Outcome::Done(format!("searches leave out {}", quantity(count, "silent host"))))
    }
}

async fn find_pages(index: &Arc<Index>, pages: &HiddenPages) -> Result<(), anyhow::Error> {
    let index = Arc::clone(index);
    let pages = pages.clone();
    Ok(tokio::task::spawn_blocking(move || index.find_hidden(&pages)).await??)
}

impl List {
    async fn of(hosts: Vec<String>) -> Result<Self, anyhow::Error> {
        // With many hosts this takes long, in which other requests would wait.
        let built = tokio::task::spawn_blocking(|| Self {
            count: hosts.len(),
            pages: HiddenPages::of_hosts(hosts),
        });
        Ok(built.await?)
    }
}
