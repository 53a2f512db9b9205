//! Opens the index for searches and checks that it is one of the database's packages.

use std::path::Path;

use index::Index;
use store::{Store, packages};

use crate::packages::cursor::LedgerCursor;
use crate::runtime::failure::{Failure, chain};
use crate::startup::database::database_failure;

/// Opens the index in `dir`. Segments are merged while that leaves `min_free_mib` free.
///
/// One that was made for another database is refused: nothing would ever remove its pages, and the
/// admins of this database know nothing of them. So is one of before a restore: it would take new
/// packages for those that it has.
pub(super) async fn open(dir: &Path, min_free_mib: u32, store: &Store) -> Result<Index, Failure> {
    let index = open_files(dir, min_free_mib).await?;
    let ledger = packages::ledger(store).await.map_err(|error| database_failure(&error))?;
    if LedgerCursor::is_of_other_ledger(&index.progress(), &ledger) {
        return Err(Failure::configuration(format!(
            "the index in {} has the pages of another database, or of this one before a backup was \
             restored: name that database, or remove the directory, and the index is made from the \
             packages of this one",
            dir.display()
        )));
    }
    Ok(index)
}

async fn open_files(dir: &Path, min_free_mib: u32) -> Result<Index, Failure> {
    let dir = dir.to_owned();
    let reserve = u64::from(min_free_mib) << 20;
    let opening = tokio::task::spawn_blocking(move || Index::open(&dir, reserve)).await;
    let opened =
        opening.map_err(|error| Failure::other(format!("the index thread ended: {error}")))?;
    opened.map_err(|error| match error {
        index::OpenError::Directory { .. } => Failure::cannot_create(chain(&error)),
        other => Failure::other(chain(&other)),
    })
}
