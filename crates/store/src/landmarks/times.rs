//! Measurements of landmarks.

use std::net::IpAddr;

use model::{AgentId, LandmarkId, UnixMillis};
use sqlx::FromRow;

use crate::moment::Moment;
use crate::{Store, StoreError};

/// An agent's latest report on a landmark in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LandmarkReport {
    /// The landmark that was measured.
    pub landmark: LandmarkId,
    /// The address that it is about.
    pub address: IpAddr,
    /// The agent that measured.
    pub agent: AgentId,
    /// The outcome of the measurement.
    pub outcome: Outcome,
    /// When the report came.
    pub measured_at: UnixMillis,
    /// Whether it counts in the trust of its agent already.
    pub judged: bool,
}

/// Outcome of a measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// A round trip.
    Measured {
        /// Round trip in microseconds.
        rtt_us: u32,
        /// The one before, from the same home; none when there was none.
        before_us: Option<u32>,
    },
    /// The address did not answer.
    Unreachable,
    /// Its owner forbids the address.
    Refused,
}

type Row = (i64, IpAddr, i64, String, Option<i32>, Option<i32>, Moment, bool);

/// The latest reports on landmarks in use of agents that may work, from where they live now; by
/// landmark, then by agent. Agents that were paused because of their reports are left out.
pub async fn times(store: &Store) -> Result<Vec<LandmarkReport>, StoreError> {
    let rows: Vec<Row> = sqlx::query_as(
        "SELECT l.id, l.address, t.agent, t.outcome, t.rtt_us, t.before_us, t.measured_at,
                t.judged
         FROM landmark_times t
         JOIN landmarks l ON l.id = t.landmark AND l.state = 'live'
         JOIN agents a ON a.id = t.agent AND a.home = t.home AND a.state IN ('approved', 'paused')
         LEFT JOIN agent_trust r ON r.agent = a.id AND r.paused_at IS NOT NULL
         WHERE r.agent IS NULL
         ORDER BY l.id, t.agent",
    )
    .fetch_all(store.pool())
    .await
    .map_err(StoreError::doing("read the times of landmarks"))?;
    rows.into_iter().map(measured).collect()
}

fn measured(
    (landmark, address, agent, word, rtt, before, at, judged): Row,
) -> Result<LandmarkReport, StoreError> {
    let outcome = match (word.as_str(), rtt) {
        ("measured", Some(rtt)) => Outcome::Measured {
            rtt_us: rtt.unsigned_abs(),
            before_us: before.map(i32::unsigned_abs),
        },
        ("unreachable", _) => Outcome::Unreachable,
        ("refused", _) => Outcome::Refused,
        _ => return Err(StoreError::unreadable("landmark_times.outcome")),
    };
    let landmark = LandmarkId::new(landmark);
    let agent = AgentId::new(agent);
    Ok(LandmarkReport { landmark, address, agent, outcome, measured_at: at.0, judged })
}

/// Number of reports on the landmarks in use, as [`times`] would read them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReportCounts {
    /// Number of reports.
    pub reports: u64,
    /// Reports that are newer than the given moment.
    pub newer: u64,
}

/// Counts the reports, and those that came after `since`.
pub async fn count_reports(store: &Store, since: UnixMillis) -> Result<ReportCounts, StoreError> {
    let (reports, newer): (i64, i64) = sqlx::query_as(
        "SELECT count(*), count(*) FILTER (WHERE t.measured_at > $1)
         FROM landmark_times t
         JOIN landmarks l ON l.id = t.landmark AND l.state = 'live'
         JOIN agents a ON a.id = t.agent AND a.home = t.home AND a.state IN ('approved', 'paused')
         LEFT JOIN agent_trust r ON r.agent = a.id AND r.paused_at IS NOT NULL
         WHERE r.agent IS NULL",
    )
    .bind(Moment(since))
    .fetch_one(store.pool())
    .await
    .map_err(StoreError::doing("count the times of landmarks"))?;
    Ok(ReportCounts { reports: reports.unsigned_abs(), newer: newer.unsigned_abs() })
}

/// What changes when there may be new reports, or other landmarks or agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, FromRow)]
pub struct Stamp {
    /// Landmarks in use.
    pub landmarks: i64,
    /// The newest of them.
    pub last_landmark: i64,
    /// A hash of the agents that may work, with their homes.
    pub agents: i64,
    /// When the newest report came, in microseconds.
    pub newest_us: i64,
}

/// Reads the stamp, from indexes and small tables.
pub async fn stamp(store: &Store) -> Result<Stamp, StoreError> {
    sqlx::query_as(include_str!("stamp.sql"))
        .fetch_one(store.pool())
        .await
        .map_err(StoreError::doing("look for new times of landmarks"))
}

/// When each of these agents made the oldest of its measurements of the landmarks in use.
pub async fn oldest(
    store: &Store,
    agents: &[AgentId],
) -> Result<Vec<(AgentId, UnixMillis)>, StoreError> {
    let rows: Vec<(i64, Moment)> = sqlx::query_as(
        "SELECT a.id, t.oldest FROM unnest($1::bigint[]) AS a (id)
         CROSS JOIN LATERAL (
             SELECT min(t.measured_at) AS oldest FROM landmarks l
             JOIN landmark_times t ON t.landmark = l.id AND t.agent = a.id
             WHERE l.state = 'live') AS t
         WHERE t.oldest IS NOT NULL",
    )
    .bind(agents.iter().map(|agent| agent.get()).collect::<Vec<_>>())
    .fetch_all(store.pool())
    .await
    .map_err(StoreError::doing("read the oldest times of landmarks"))?;
    Ok(rows.into_iter().map(|(agent, at)| (AgentId::new(agent), at.0)).collect())
}
