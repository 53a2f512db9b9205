//! Work that waits, for the metrics.
//!
//! The statement reads only indexes of what waits. Each number is counted up to [`COUNTED`], so
//! that it costs the same however large the tables and the backlog are.

use model::UnixMillis;
use sqlx::postgres::PgRow;
use sqlx::{FromRow, Row as _};

use crate::columns::ReadColumn as _;
use crate::moment::Moment;
use crate::{Store, StoreError};

/// Largest number that is counted; it means this number or more.
pub const COUNTED: u32 = 10_000;

/// What waits at one moment; numbers are at most [`COUNTED`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backlog {
    /// Searches that are open.
    pub searches: i64,
    /// Probes that agents have not answered.
    pub probes: i64,
    /// Packages that wait to be ingested.
    pub packages: i64,
    /// When the oldest of them was received.
    pub oldest_package: Option<UnixMillis>,
    /// Packages that could not be ingested.
    pub packages_set_aside: i64,
    /// Hosts whose address is due to be looked up.
    pub unresolved_hosts: i64,
    /// Since when the first of them is due.
    pub oldest_unresolved: Option<UnixMillis>,
    /// Hosts that wait for an agent and are due.
    pub waiting_hosts: i64,
    /// URLs that wait until their host has an agent.
    pub urls: i64,
}

impl FromRow<'_, PgRow> for Backlog {
    fn from_row(row: &PgRow) -> sqlx::Result<Self> {
        Ok(Self {
            searches: row.try_get("searches")?,
            probes: row.try_get("probes")?,
            packages: row.try_get("packages")?,
            oldest_package: row.read("oldest_package")?,
            packages_set_aside: row.try_get("packages_set_aside")?,
            unresolved_hosts: row.try_get("unresolved_hosts")?,
            oldest_unresolved: row.read("oldest_unresolved")?,
            waiting_hosts: row.try_get("waiting_hosts")?,
            urls: row.try_get("urls")?,
        })
    }
}

/// Counts what waits.
pub async fn count(store: &Store, now: UnixMillis) -> Result<Backlog, StoreError> {
    sqlx::query_as(include_str!("backlog.sql"))
        .bind(Moment(now))
        .bind(i64::from(COUNTED))
        .fetch_one(&store.pool())
        .await
        .map_err(StoreError::doing("count what waits"))
}
