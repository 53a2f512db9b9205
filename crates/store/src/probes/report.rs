//! Reports of agents on probe orders.

use std::net::IpAddr;

use model::{AgentId, ProbeId, ProbeState, UnixMillis};
use protocol::{ProbeReport, ProbeResult};
use sqlx::postgres::PgRow;
use sqlx::{FromRow, Row as _};

use crate::columns::int;
use crate::line::one_line;
use crate::moment::Moment;
use crate::{Store, StoreError};

/// Number of reports that were not known yet, by the purpose of their orders.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NewReports {
    /// Steps of searches.
    pub search: i64,
    /// Checks of single addresses and of paths.
    pub check: i64,
    /// Measurements of the home addresses of other agents.
    pub home: i64,
}

impl FromRow<'_, PgRow> for NewReports {
    fn from_row(row: &PgRow) -> sqlx::Result<Self> {
        Ok(Self {
            search: row.try_get("search")?,
            check: row.try_get("check")?,
            home: row.try_get("home")?,
        })
    }
}

/// Stores reports of an agent. Orders of other agents, unknown orders and answered orders are
/// skipped, so that a report may be repeated. A late report counts while its search is open, and
/// always without a search. The same statement renews the times of homes and forgets the
/// silence of addresses that answered.
pub async fn report(
    store: &Store,
    agent: AgentId,
    reports: &[ProbeReport],
    now: UnixMillis,
) -> Result<NewReports, StoreError> {
    let answers: Vec<Answer> = reports.iter().map(|report| Answer::of(&report.result)).collect();
    sqlx::query_as(REPORT)
        .bind(agent.get())
        .bind(reports.iter().map(|report| report.probe.get()).collect::<Vec<_>>())
        .bind(answers.iter().map(|answer| answer.state.as_str()).collect::<Vec<_>>())
        .bind(answers.iter().map(|answer| answer.method).collect::<Vec<_>>())
        .bind(answers.iter().map(|answer| answer.rtt_us).collect::<Vec<_>>())
        .bind(answers.iter().map(|answer| answer.samples).collect::<Vec<_>>())
        .bind(answers.iter().map(|answer| answer.reason.as_deref()).collect::<Vec<_>>())
        .bind(Moment(now))
        .fetch_one(&store.pool())
        .await
        .map_err(StoreError::doing("store probe reports"))
}

/// An order that an agent answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AnsweredOrder {
    /// The address that was probed.
    pub address: Option<IpAddr>,
    /// Its round trip in microseconds; none where it did not answer.
    pub rtt_us: Option<u32>,
}

/// Those of these orders that the agent answered at this moment.
pub async fn answers_at(
    store: &Store,
    agent: AgentId,
    orders: &[ProbeId],
    reported_at: UnixMillis,
) -> Result<Vec<AnsweredOrder>, StoreError> {
    let rows: Vec<(Option<IpAddr>, Option<i32>)> = sqlx::query_as(include_str!("answers_at.sql"))
        .bind(agent.get())
        .bind(orders.iter().map(|order| order.get()).collect::<Vec<_>>())
        .bind(Moment(reported_at))
        .fetch_all(&store.pool())
        .await
        .map_err(StoreError::doing("read what probes measured"))?;
    let read = |(address, rtt_us): (Option<IpAddr>, Option<i32>)| AnsweredOrder {
        address,
        rtt_us: rtt_us.map(i32::unsigned_abs),
    };
    Ok(rows.into_iter().map(read).collect())
}

const REPORT: &str = include_str!("report.sql");

/// A report as the row has it.
struct Answer {
    state: ProbeState,
    method: Option<&'static str>,
    rtt_us: Option<i32>,
    samples: Option<i16>,
    reason: Option<String>,
}

impl Answer {
    fn of(result: &ProbeResult) -> Self {
        match result {
            ProbeResult::Measured { method, rtt_us, samples } => Self {
                state: ProbeState::Measured,
                method: Some(method.as_str()),
                rtt_us: Some(int(*rtt_us).max(1)),
                samples: Some(i16::from(*samples)),
                reason: None,
            },
            ProbeResult::Unreachable { reason } => {
                Self::without_time(ProbeState::Unreachable, reason)
            }
            ProbeResult::Refused { reason } => Self::without_time(ProbeState::Refused, reason),
        }
    }

    fn without_time(state: ProbeState, reason: &str) -> Self {
        Self { state, method: None, rtt_us: None, samples: None, reason: Some(one_line(reason)) }
    }
}
