//! Reports of agents on how fast the pages of subnets answer (IPMicra III.F).
//!
//! Packages bring the reports; the transaction that ingests a package counts each report once.
//! Calibration reads the counts ([`pending`]) and stores its summary of them ([`store_summary`]),
//! so that a restart loses nothing.

use std::net::IpAddr;

use hierarchy::Range;
use model::{AgentId, UnixMillis};
use sqlx::{FromRow, PgConnection};

use crate::columns::range;
use crate::host_tally::HostTally;
use crate::moment::Moment;
use crate::{Store, StoreError};

/// Counts the reports of a package of `agent`. Only its present hosts count: the reports of a
/// former agent say nothing about the path of the present one.
pub(crate) async fn count_in(
    db: &mut PgConnection,
    agent: AgentId,
    hosts: &[HostTally],
    now: UnixMillis,
) -> Result<(), StoreError> {
    let hosts: Vec<&HostTally> = hosts.iter().filter(|host| !host.trends.is_empty()).collect();
    if hosts.is_empty() {
        return Ok(());
    }
    let count = |value: u32| i32::try_from(value).unwrap_or(i32::MAX);
    let page = |host: &&HostTally| host.trends.page.clone().unzip();
    let (urls, ratios): (Vec<Option<String>>, Vec<Option<f64>>) = hosts.iter().map(page).unzip();
    sqlx::query(COUNT)
        .bind(hosts.iter().map(|host| host.scheme.as_str()).collect::<Vec<_>>())
        .bind(hosts.iter().map(|host| host.authority.as_str()).collect::<Vec<_>>())
        .bind(hosts.iter().map(|host| count(host.trends.usual)).collect::<Vec<_>>())
        .bind(hosts.iter().map(|host| count(host.trends.slower)).collect::<Vec<_>>())
        .bind(ratios)
        .bind(urls)
        .bind(agent.get())
        .bind(Moment(now))
        .execute(db)
        .await
        .map_err(StoreError::doing("count reports of slow pages"))?;
    Ok(())
}

const COUNT: &str = include_str!("timing_reports/count.sql");

/// Counts of a subnet that calibration has not evaluated yet.
#[derive(Debug, Clone, PartialEq)]
pub struct PendingReports {
    /// The subnet that it is about.
    pub subnet: Range,
    /// The agent that reported.
    pub agent: AgentId,
    /// Fetches as fast as usual.
    pub usual: u32,
    /// Reports of slower pages.
    pub slower: u32,
    /// Recent time over usual time of the page reported last.
    pub ratio: Option<f64>,
    /// URL of that page.
    pub url: Option<String>,
    /// The summary of earlier reports, as [`store_summary`] stored it.
    pub summary: Option<serde_json::Value>,
    /// When the delegation that holds was decided; none when the subnet has none, or another agent.
    pub delegated_at: Option<UnixMillis>,
}

#[derive(FromRow)]
struct Row {
    first: IpAddr,
    last: IpAddr,
    agent: i64,
    usual: i32,
    slower: i32,
    ratio: Option<f64>,
    url: Option<String>,
    summary: Option<serde_json::Value>,
    delegated_at: Option<Moment>,
}

/// Subnets with new reports, those waiting longest first.
pub async fn pending(store: &Store, limit: u32) -> Result<Vec<PendingReports>, StoreError> {
    let rows: Vec<Row> = sqlx::query_as(include_str!("timing_reports/pending.sql"))
        .bind(i64::from(limit))
        .fetch_all(store.pool())
        .await
        .map_err(StoreError::doing("read the reports of slow pages"))?;
    let pending = |row: Row| {
        Ok(PendingReports {
            subnet: range(row.first, row.last)?,
            agent: AgentId::new(row.agent),
            usual: row.usual.unsigned_abs(),
            slower: row.slower.unsigned_abs(),
            ratio: row.ratio,
            url: row.url,
            summary: row.summary,
            delegated_at: row.delegated_at.map(|at| at.0),
        })
    };
    rows.into_iter().map(pending).collect()
}

/// Stores the summary of evaluated counts and subtracts them; counts that arrived meanwhile stay.
pub(crate) async fn store_summary_in(
    db: &mut PgConnection,
    reports: &PendingReports,
    summary: &serde_json::Value,
) -> Result<(), StoreError> {
    sqlx::query(
        "UPDATE timing_reports SET usual = usual - $4, slower = slower - $5, summary = $6
         WHERE first = $1 AND last = $2 AND agent = $3 AND usual >= $4 AND slower >= $5",
    )
    .bind(reports.subnet.first())
    .bind(reports.subnet.last())
    .bind(reports.agent.get())
    .bind(i32::try_from(reports.usual).unwrap_or(i32::MAX))
    .bind(i32::try_from(reports.slower).unwrap_or(i32::MAX))
    .bind(summary)
    .execute(db)
    .await
    .map_err(StoreError::doing("store a summary of reports"))?;
    Ok(())
}

/// [`store_summary_in`] in a transaction of its own.
pub async fn store_summary(
    store: &Store,
    reports: &PendingReports,
    summary: &serde_json::Value,
) -> Result<(), StoreError> {
    let mut db =
        store.pool().acquire().await.map_err(StoreError::doing("store a summary of reports"))?;
    store_summary_in(&mut db, reports, summary).await
}
