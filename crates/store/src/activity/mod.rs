//! Activity: what agents did, by minute, hour and day.
//!
//! Each event adds to the rows of its agent, so that transactions wait for each other only where
//! they concern the same agent. A task adds the rows of all agents up ([`add_up`]).

mod series;

use model::{ActivityStep, AgentId, DAY_MS, UnixMillis};
use sqlx::postgres::PgExecutor;

pub use series::{AgentRoundTrips, Bucket, round_trips_since, series};

use crate::columns::bigint;
use crate::host_tally::HostTally;
use crate::moment::Moment;
use crate::{Store, StoreError};

/// Days for which minutes are kept, as [`crate::partitions`] keeps them.
pub const MINUTE_DAYS: i32 = 3;
/// Days for which hours are kept.
pub const HOUR_DAYS: i64 = 40;
/// Days for which days are kept.
pub const DAY_DAYS: i64 = 731;
/// The `agent` of rows about all agents together.
const ALL: i64 = 0;

/// What one agent did, or several in sum.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Activity {
    /// Documents that were ingested.
    pub pages: u64,
    /// Fetches ingested, whatever their outcome.
    pub fetches: u64,
    /// Fetches without a complete answer or with an HTTP error status.
    pub errors: u64,
    /// Bytes of bodies as fetched.
    pub fetched_bytes: u64,
    /// Bytes of packages.
    pub shipped_bytes: u64,
    /// Fetches whose round trip is known.
    pub timed_fetches: u64,
    /// Sum of their round trips in microseconds.
    pub round_trip_us: u64,
    /// Probe orders that were answered.
    pub probes: u64,
    /// Searches that ended with a delegation.
    pub searches: u64,
    /// URLs that wait; none where it is not known.
    pub queued: Option<u64>,
}

impl Activity {
    /// The fetches of a package.
    pub(crate) fn of_hosts(hosts: &[HostTally], shipped_bytes: u64) -> Self {
        let mut activity = Self { shipped_bytes, ..Self::default() };
        for host in hosts {
            activity.pages = activity.pages.saturating_add(host.pages);
            activity.fetches = activity.fetches.saturating_add(host.fetches);
            activity.fetched_bytes = activity.fetched_bytes.saturating_add(host.wire_bytes);
            activity.timed_fetches = activity.timed_fetches.saturating_add(host.timed_fetches);
            activity.round_trip_us = activity.round_trip_us.saturating_add(host.round_trip_us);
            for error in &host.errors {
                activity.errors = activity.errors.saturating_add(error.errors);
            }
        }
        activity
    }
}

/// Counts what an agent did now. Call it last in a transaction: its rows are locked after all
/// others.
pub(crate) async fn count_in<'db>(
    db: impl PgExecutor<'db>,
    news: &[(AgentId, Activity)],
    now: UnixMillis,
) -> Result<(), StoreError> {
    let column = |value: fn(&Activity) -> u64| -> Vec<i64> {
        news.iter().map(|(_, activity)| bigint(value(activity))).collect()
    };
    sqlx::query(include_str!("count.sql"))
        .bind(Moment(now))
        .bind(news.iter().map(|(agent, _)| agent.get()).collect::<Vec<_>>())
        .bind(column(|activity| activity.pages))
        .bind(column(|activity| activity.fetches))
        .bind(column(|activity| activity.errors))
        .bind(column(|activity| activity.fetched_bytes))
        .bind(column(|activity| activity.shipped_bytes))
        .bind(column(|activity| activity.timed_fetches))
        .bind(column(|activity| activity.round_trip_us))
        .bind(column(|activity| activity.probes))
        .bind(column(|activity| activity.searches))
        .bind(news.iter().map(|(_, activity)| activity.queued.map(bigint)).collect::<Vec<_>>())
        .execute(db)
        .await
        .map_err(StoreError::doing("count what agents did"))?;
    Ok(())
}

/// Counts the answers of an agent to probe orders.
pub async fn count_probes(
    store: &Store,
    agent: AgentId,
    probes: u64,
    now: UnixMillis,
) -> Result<(), StoreError> {
    let activity = Activity { probes, ..Activity::default() };
    count_in(&store.pool(), &[(agent, activity)], now).await
}

/// Keeps the length of an agent's queue, as of its heartbeat.
pub async fn note_queue(
    store: &Store,
    agent: AgentId,
    queued: u64,
    now: UnixMillis,
) -> Result<(), StoreError> {
    let activity = Activity { queued: Some(queued), ..Activity::default() };
    count_in(&store.pool(), &[(agent, activity)], now).await
}

/// Adds the activity of all agents up since it was last done. Returns how many buckets changed.
pub async fn add_up(store: &Store, now: UnixMillis) -> Result<u64, StoreError> {
    let changed = sqlx::query(include_str!("add_up.sql"))
        .bind(Moment(now))
        .execute(&store.pool())
        .await
        .map_err(StoreError::doing("add up what agents did"))?;
    Ok(changed.rows_affected())
}

/// Deletes the hours and days that are not kept; minutes go with their partitions. Returns the
/// number of rows.
pub async fn forget(store: &Store, now: UnixMillis) -> Result<u64, StoreError> {
    let mut rows = 0;
    for (step, days) in [(ActivityStep::Hour, HOUR_DAYS), (ActivityStep::Day, DAY_DAYS)] {
        let deleted = sqlx::query("DELETE FROM activity WHERE step = $1 AND start < $2")
            .bind(step.as_str())
            .bind(Moment(now.plus_ms(-days * DAY_MS)))
            .execute(&store.pool())
            .await
            .map_err(StoreError::doing("forget the activity of old days"))?;
        rows += deleted.rows_affected();
    }
    Ok(rows)
}
