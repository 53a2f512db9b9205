//! What agents tell of how fast the pages of subnets answer (IPMicra III.F).
//!
//! Packages bring it, and it is counted in the transaction that ingests them: each report counts
//! once. The coordinator weighs the counts ([`pending`], [`store_summary`]); what was weighed is
//! kept as it left it, so that a restart forgets nothing.

use std::net::IpAddr;

use hierarchy::Range;
use model::{AgentId, UnixMillis};
use sqlx::{FromRow, PgConnection};

use crate::columns::range;
use crate::host_tally::HostTally;
use crate::moment::Moment;
use crate::{Store, StoreError};

/// Counts what a package of `agent` tells. Only hosts that are the agent's now count: what a former
/// agent saw says nothing of the present one's way.
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
        .map_err(StoreError::doing("count what an agent tells of slow pages"))?;
    Ok(())
}

const COUNT: &str = include_str!("timing_reports/count.sql");

/// Counts of a subnet that were not weighed yet.
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
    /// What was weighed before, as [`store_summary`] left it.
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

/// Subnets of which something new was told, those waiting longest first.
pub async fn pending(store: &Store, limit: u32) -> Result<Vec<PendingReports>, StoreError> {
    let rows: Vec<Row> = sqlx::query_as(include_str!("timing_reports/pending.sql"))
        .bind(i64::from(limit))
        .fetch_all(store.pool())
        .await
        .map_err(StoreError::doing("read what agents told of slow pages"))?;
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

/// What was read was weighed, and this is what is left of it. Counts that came meanwhile stay for
/// the next time.
pub(crate) async fn store_summary_in(
    db: &mut PgConnection,
    weighed: &PendingReports,
    summary: &serde_json::Value,
) -> Result<(), StoreError> {
    sqlx::query(
        "UPDATE timing_reports SET usual = usual - $4, slower = slower - $5, summary = $6
         WHERE first = $1 AND last = $2 AND agent = $3 AND usual >= $4 AND slower >= $5",
    )
    .bind(weighed.subnet.first())
    .bind(weighed.subnet.last())
    .bind(weighed.agent.get())
    .bind(i32::try_from(weighed.usual).unwrap_or(i32::MAX))
    .bind(i32::try_from(weighed.slower).unwrap_or(i32::MAX))
    .bind(summary)
    .execute(db)
    .await
    .map_err(StoreError::doing("keep what was weighed"))?;
    Ok(())
}

/// [`store_summary_in`] where nothing else follows from it.
pub async fn store_summary(
    store: &Store,
    weighed: &PendingReports,
    summary: &serde_json::Value,
) -> Result<(), StoreError> {
    let mut db =
        store.pool().acquire().await.map_err(StoreError::doing("keep what was weighed"))?;
    store_summary_in(&mut db, weighed, summary).await
}
