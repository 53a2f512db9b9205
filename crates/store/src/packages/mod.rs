//! Ledger of packages: each package has a position and is ingested exactly once.
//!
//! [`enter`] gives a package its position, [`pending`] lists packages to be ingested, [`ingest`]
//! applies what a package brings to the database, and [`fail`] sets a package aside that cannot be
//! ingested now.

mod failures;
mod ingestion;
mod ledger;

pub use failures::{FailedPackage, count_failed, fail, list_failed, retry};
pub use ingestion::{Ingestion, ingest, most_ingestions};
pub use ledger::{EnterOutcome, PendingPackage, ReceivedPackage, enter, find, ingested, pending};

use crate::StoreError;

fn number(value: u64) -> Result<i64, StoreError> {
    i64::try_from(value).map_err(|_| StoreError::conflict("a number larger than 2^63 - 1"))
}
