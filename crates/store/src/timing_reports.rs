//! Reports of agents on how fast the pages of subnets answer, and on the round trips of their
//! connections (IPMicra III.F).
//!
//! Packages bring the reports; the transaction that ingests a package counts each report once.
//! Calibration reads the counts ([`pending`]) and stores its summary of them ([`store_summary`]),
//! so that a restart loses nothing. Paths without new connections are measured by probes
//! ([`order_checks`]).

use std::net::IpAddr;

use hierarchy::Range;
use model::{AgentId, UnixMillis};
use sqlx::postgres::PgRow;
use sqlx::{FromRow, PgConnection, Row as _};

use crate::columns::{ReadColumn as _, int, range};
use crate::host_tally::HostTally;
use crate::moment::Moment;
use crate::{Store, StoreError};

/// Time until a path is checked of which no new connection is known: a fetch may still bring one.
const FIRST_CHECK_MS: i64 = 17 * 3_600_000;

/// Counts the reports of a package of `agent`. Only its present hosts count: the reports of a
/// former agent say nothing about the path of the present one.
pub(crate) async fn count_in(
    db: &mut PgConnection,
    agent: AgentId,
    hosts: &[HostTally],
    now: UnixMillis,
) -> Result<(), StoreError> {
    let is_told = |host: &&HostTally| !host.trends.is_empty() || host.connect.is_some();
    let hosts: Vec<&HostTally> = hosts.iter().filter(is_told).collect();
    if hosts.is_empty() {
        return Ok(());
    }
    let page = |host: &&HostTally| host.trends.page.clone().unzip();
    let (urls, ratios): (Vec<Option<String>>, Vec<Option<f64>>) = hosts.iter().map(page).unzip();
    let connect = |host: &&HostTally| host.connect.map(|(address, us)| (address, int(us))).unzip();
    let (addresses, connects): (Vec<Option<IpAddr>>, Vec<Option<i32>>) =
        hosts.iter().map(connect).unzip();
    sqlx::query(COUNT)
        .bind(hosts.iter().map(|host| host.scheme.as_str()).collect::<Vec<_>>())
        .bind(hosts.iter().map(|host| host.authority.as_str()).collect::<Vec<_>>())
        .bind(hosts.iter().map(|host| int(host.trends.usual)).collect::<Vec<_>>())
        .bind(hosts.iter().map(|host| int(host.trends.slower)).collect::<Vec<_>>())
        .bind(ratios)
        .bind(urls)
        .bind(agent.get())
        .bind(Moment(now))
        .bind(addresses)
        .bind(connects)
        .execute(db)
        .await
        .map_err(StoreError::doing("count reports of slow pages"))?;
    Ok(())
}

/// Has the paths of hosts checked, from [`FIRST_CHECK_MS`] after `now` on, of which nothing but the
/// round trips of kept connections is known.
pub(crate) async fn begin_paths_in(
    db: &mut PgConnection,
    agent: AgentId,
    hosts: &[HostTally],
    now: UnixMillis,
) -> Result<(), StoreError> {
    let is_kept = |host: &&HostTally| host.connect.is_none() && host.round_trip.is_some();
    let hosts: Vec<&HostTally> = hosts.iter().filter(is_kept).collect();
    if hosts.is_empty() {
        return Ok(());
    }
    sqlx::query(include_str!("timing_reports/begin_paths.sql"))
        .bind(hosts.iter().map(|host| host.scheme.as_str()).collect::<Vec<_>>())
        .bind(hosts.iter().map(|host| host.authority.as_str()).collect::<Vec<_>>())
        .bind(agent.get())
        .bind(Moment(now))
        .bind(Moment(now.plus_ms(FIRST_CHECK_MS)))
        .execute(db)
        .await
        .map_err(StoreError::doing("begin to compare the paths of hosts"))?;
    Ok(())
}

const COUNT: &str = include_str!("timing_reports/count.sql");

/// Counts of a subnet that calibration has not evaluated yet.
#[derive(Debug, Clone, PartialEq)]
pub struct PendingReports {
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
    /// A round trip that was not compared yet, in microseconds, and when it came.
    pub round_trip: Option<(u32, UnixMillis)>,
    /// What is known of the path, as [`store_summary`] stored it.
    pub path: Option<serde_json::Value>,
    /// When the delegation that holds was decided; none when the subnet has none, or another agent.
    pub delegated_at: Option<UnixMillis>,
}

/// What calibration concluded from the reports of a subnet.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// The reports of its pages, as JSON.
    pub reports: serde_json::Value,
    /// What is known of its path, as JSON.
    pub path: serde_json::Value,
    /// When the path is to be checked; none leaves the time as it is.
    pub check_at: Option<UnixMillis>,
}

impl FromRow<'_, PgRow> for PendingReports {
    fn from_row(row: &PgRow) -> sqlx::Result<Self> {
        Ok(Self {
            subnet: range(row.try_get("first")?, row.try_get("last")?)?,
            agent: row.read("agent")?,
            usual: row.read("usual")?,
            slower: row.read("slower")?,
            ratio: row.try_get("ratio")?,
            url: row.try_get("url")?,
            summary: row.try_get("summary")?,
            round_trip: row.read::<Option<_>>("connect_us")?.zip(row.read("connect_at")?),
            path: row.try_get("path")?,
            delegated_at: row.read("delegated_at")?,
        })
    }
}

/// Subnets with new reports, those waiting longest first.
pub async fn pending(store: &Store, limit: u32) -> Result<Vec<PendingReports>, StoreError> {
    sqlx::query_as(include_str!("timing_reports/pending.sql"))
        .bind(i64::from(limit))
        .fetch_all(&store.pool())
        .await
        .map_err(StoreError::doing("read the reports of slow pages"))
}

/// Stores the summary of evaluated counts and subtracts them; counts that arrived meanwhile stay.
pub(crate) async fn store_summary_in(
    db: &mut PgConnection,
    reports: &PendingReports,
    summary: &Summary,
) -> Result<(), StoreError> {
    sqlx::query(include_str!("timing_reports/store_summary.sql"))
        .bind(reports.subnet.first())
        .bind(reports.subnet.last())
        .bind(reports.agent.get())
        .bind(int(reports.usual))
        .bind(int(reports.slower))
        .bind(&summary.reports)
        .bind(&summary.path)
        .bind(summary.check_at.map(Moment))
        .bind(reports.round_trip.map(|(_, at)| Moment(at)))
        .execute(db)
        .await
        .map_err(StoreError::doing("store a summary of reports"))?;
    Ok(())
}

/// [`store_summary_in`] in a transaction of its own.
pub async fn store_summary(
    store: &Store,
    reports: &PendingReports,
    summary: &Summary,
) -> Result<(), StoreError> {
    let mut db =
        store.pool().acquire().await.map_err(StoreError::doing("store a summary of reports"))?;
    store_summary_in(&mut db, reports, summary).await
}

/// Orders probes of paths whose checks are due, at most `most` of each of these agents. Without an
/// answer a path is due again after the first of `pauses_ms`, then after the next of them, and
/// after the last one from then on. Returns the agents that were asked, once for each probe.
pub async fn order_checks(
    store: &Store,
    agents: &[AgentId],
    most: u32,
    now: UnixMillis,
    pauses_ms: &[i64],
) -> Result<Vec<AgentId>, StoreError> {
    let rows: Vec<(i64, Option<i64>)> =
        sqlx::query_as(include_str!("timing_reports/order_checks.sql"))
            .bind(agents.iter().map(|agent| agent.get()).collect::<Vec<_>>())
            .bind(Moment(now))
            .bind(i64::from(most))
            .bind(pauses_ms)
            .fetch_all(&store.pool())
            .await
            .map_err(StoreError::doing("order checks of paths"))?;
    let asked = rows.into_iter().filter(|(_, probe)| probe.is_some());
    Ok(asked.map(|(agent, _)| AgentId::new(agent)).collect())
}

/// Deletes checks of paths that were answered or expired, at most `limit`: their round trips are
/// stored with the subnets. Returns their number.
pub async fn delete_ended_checks(store: &Store, limit: u32) -> Result<u64, StoreError> {
    let deleted = sqlx::query(
        "DELETE FROM probes WHERE id IN (
            SELECT id FROM probes WHERE purpose = 'path' AND state <> 'asked'
            ORDER BY id LIMIT $1)",
    )
    .bind(i64::from(limit))
    .execute(&store.pool())
    .await
    .map_err(StoreError::doing("delete checks of paths"))?;
    Ok(deleted.rows_affected())
}
