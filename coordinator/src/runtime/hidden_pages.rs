//! What admins have hidden from the search, in memory, so that searches need no database.

use std::sync::Arc;

use arc_swap::ArcSwap;
use index::HiddenPages;
use model::HiddenKind;
use store::Store;
use store::hidden_from_search::{self, Hidden};

use crate::runtime::outcome::Outcome;

/// Name of the task that calls [`CurrentHiddenPages::refresh`].
pub const TASK: &str = "refresh_hidden_pages";

/// What is hidden, as last read from the database.
#[derive(Debug)]
pub struct CurrentHiddenPages {
    store: Store,
    list: ArcSwap<List>,
}

/// The list of hidden sites and pages at one time.
#[derive(Debug)]
struct List {
    /// Number of changes that it has for certain.
    changes: i64,
    pages: HiddenPages,
}

impl CurrentHiddenPages {
    /// Reads the list for the first time.
    pub async fn read(store: Store) -> Result<Self, anyhow::Error> {
        let changes = hidden_from_search::changes(&store).await?;
        let list = ArcSwap::from_pointee(read_list(&store, changes).await?);
        Ok(Self { store, list })
    }

    /// What searches leave out now.
    pub fn load(&self) -> HiddenPages {
        self.list.load().pages.clone()
    }

    /// The background task that notices a change, also one made through another coordinator.
    pub async fn refresh(&self) -> Result<Outcome, anyhow::Error> {
        let changes = hidden_from_search::changes(&self.store).await?;
        if changes == self.list.load().changes {
            return Ok(Outcome::Idle);
        }
        // Of two concurrent reads the earlier may be stored last; the next run repairs that.
        self.list.store(Arc::new(read_list(&self.store, changes).await?));
        Ok(Outcome::Done("read what is hidden from the search".to_owned()))
    }
}

/// Reads the list after the number of its changes, so that it is never older than its number.
async fn read_list(store: &Store, changes: i64) -> Result<List, anyhow::Error> {
    let all = hidden_from_search::list(store, i64::MAX, hidden_from_search::ENTRIES_MAX).await?;
    // With thousands of entries this takes many milliseconds, in which other requests would wait.
    let pages = tokio::task::spawn_blocking(move || build(&all)).await?;
    Ok(List { changes, pages })
}

fn build(all: &[Hidden]) -> HiddenPages {
    let of = |kind| {
        all.iter().filter(move |hidden| hidden.kind == kind).map(|hidden| hidden.target.as_str())
    };
    HiddenPages::new(of(HiddenKind::Site), of(HiddenKind::Page))
}
