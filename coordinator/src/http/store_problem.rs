//! The database did not do it: what is the caller told?

use axum::http::StatusCode;
use store::StoreError;

use crate::http::problem::Problem;
use crate::runtime::failure::chain;

/// Seconds after which a restarted Postgres usually answers again.
const RETRY_AFTER_S: u64 = 2;

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        if error.is_transient() {
            tracing::warn!(error = chain(&error), "the database is away");
            let problem =
                Self::unavailable("The coordinator's database is away for a moment; try again.");
            return Self { retry_after_s: Some(RETRY_AFTER_S), ..problem };
        }
        if error.is_disk_full() {
            tracing::error!(error = chain(&error), "the database has no room left");
            let detail = "The disk of the coordinator's database is full; try again later.";
            let problem = Self::new(StatusCode::INSUFFICIENT_STORAGE, "disk-full", detail);
            return Self { retry_after_s: Some(60), ..problem };
        }
        match error {
            StoreError::Conflict { what } => Self::conflict(format!("{what}.")),
            other => Self::internal(&other),
        }
    }
}
