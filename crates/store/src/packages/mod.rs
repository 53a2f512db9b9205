//! Ledger of packages: each package has a position, and its changes are applied exactly once.
//!
//! [`enter`] gives a package its position. Every coordinator follows the ledger with
//! [`waiting`] and indexes the pages. The leader also applies what a package brings to the
//! database, with [`ingest`], and records with [`fail`] that a package cannot be ingested now.

mod failures;
mod ingestion;
mod ledger;

pub use failures::{FailedPackage, count_failed, fail, list_failed, retry};
pub use ingestion::{Ingestion, ingest};
pub use ledger::{
    EnterOutcome, InTurn, Ledger, LedgerPackage, ReceivedPackage, WaitingPackage, at, enter, find,
    known, ledger, pending, waiting,
};

use crate::StoreError;

fn number(value: u64) -> Result<i64, StoreError> {
    i64::try_from(value).map_err(|_| StoreError::conflict("a number larger than 2^63 - 1"))
}
