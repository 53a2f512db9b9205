//! Reading activity: time series, and the round trips of agents.

use model::{ActivityStep, AgentId, UnixMillis};
use sqlx::FromRow;
use sqlx::postgres::PgRow;

use super::{ALL, Activity};
use crate::columns::ReadColumn as _;
use crate::moment::Moment;
use crate::{Store, StoreError};

/// What agents did in one bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bucket {
    /// Begin of the bucket.
    pub start: UnixMillis,
    /// What was counted in it.
    pub activity: Activity,
}

impl FromRow<'_, PgRow> for Bucket {
    fn from_row(row: &PgRow) -> sqlx::Result<Self> {
        let activity = Activity {
            pages: row.read("pages")?,
            fetches: row.read("fetches")?,
            errors: row.read("errors")?,
            fetched_bytes: row.read("fetched_bytes")?,
            shipped_bytes: row.read("shipped_bytes")?,
            timed_fetches: row.read("timed_fetches")?,
            round_trip_us: row.read("round_trip_us")?,
            probes: row.read("probes")?,
            searches: row.read("searches")?,
            queued: row.read("queued")?,
        };
        Ok(Self { start: row.read("start")?, activity })
    }
}

/// The buckets of an agent, or of all together, that begin from `from` up to `until`, the oldest
/// first. Buckets in which nothing happened are missing.
pub async fn series(
    store: &Store,
    agent: Option<AgentId>,
    step: ActivityStep,
    from: UnixMillis,
    until: UnixMillis,
) -> Result<Vec<Bucket>, StoreError> {
    sqlx::query_as(include_str!("series.sql"))
        .bind(agent.map_or(ALL, AgentId::get))
        .bind(step.as_str())
        .bind(Moment(from))
        .bind(Moment(until))
        .fetch_all(&store.pool())
        .await
        .map_err(StoreError::doing("read what agents did"))
}

/// Fetches and round trips of one agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AgentRoundTrips {
    /// The agent that fetched.
    pub agent: AgentId,
    /// Fetches ingested, whatever their outcome.
    pub fetches: u64,
    /// Fetches whose round trip is known.
    pub timed_fetches: u64,
    /// Sum of their round trips in microseconds.
    pub round_trip_us: u64,
}

/// Round trips of each agent that fetched since a day.
pub async fn round_trips_since(
    store: &Store,
    since: UnixMillis,
) -> Result<Vec<AgentRoundTrips>, StoreError> {
    let rows: Vec<(i64, i64, i64, i64)> = sqlx::query_as(
        "SELECT agent, sum(fetches)::bigint, sum(timed_fetches)::bigint,
                least(sum(round_trip_us), 9223372036854775807)::bigint
         FROM activity WHERE step = 'day' AND start >= $1 AND agent > 0
         GROUP BY agent HAVING sum(fetches) > 0 ORDER BY agent",
    )
    .bind(Moment(since))
    .fetch_all(&store.pool())
    .await
    .map_err(StoreError::doing("read the round trips of agents"))?;
    let read =
        |(agent, fetches, timed_fetches, round_trip_us): (i64, i64, i64, i64)| AgentRoundTrips {
            agent: AgentId::new(agent),
            fetches: fetches.unsigned_abs(),
            timed_fetches: timed_fetches.unsigned_abs(),
            round_trip_us: round_trip_us.unsigned_abs(),
        };
    Ok(rows.into_iter().map(read).collect())
}
