//! Counts for the overview.
//!
//! Triggers keep the counts of large tables as their rows change: each statement inserts its
//! changes, and [`add_up`] adds them to the sums. Agents and open searches are counted.

use std::collections::HashMap;

use model::{Reason, UnixMillis};
use sqlx::postgres::PgRow;
use sqlx::{FromRow, PgConnection, Row as _};

use crate::moment::Moment;
use crate::{Store, StoreError};

/// Everything counted, as of one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct Counts {
    /// Agents by state and presence.
    pub agents: Agents,
    /// Delegations that hold.
    pub delegations: Delegations,
    /// Searches and probes.
    pub searches: Searches,
    /// Hosts and URLs.
    pub hosts: Hosts,
    /// Packages and the pages in them.
    pub packages: Packages,
}

/// Agents by state, and those that are approved by presence.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the states and presences of agents, counted")]
pub struct Agents {
    pub pending: i64,
    pub approved: i64,
    pub paused: i64,
    pub revoked: i64,
    pub awake: i64,
    pub asleep: i64,
    pub unreachable: i64,
}

impl FromRow<'_, PgRow> for Agents {
    fn from_row(row: &PgRow) -> sqlx::Result<Self> {
        Ok(Self {
            pending: row.try_get("pending")?,
            approved: row.try_get("approved")?,
            paused: row.try_get("paused")?,
            revoked: row.try_get("revoked")?,
            awake: row.try_get("awake")?,
            asleep: row.try_get("asleep")?,
            unreachable: row.try_get("unreachable")?,
        })
    }
}

/// Delegations that hold, by reason.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the reasons of delegations, counted")]
pub struct Delegations {
    pub total: i64,
    pub provisional: i64,
    pub home: i64,
    pub company: i64,
    pub threshold: i64,
    pub lowest: i64,
    pub predicted: i64,
    pub pinned: i64,
    pub r#override: i64,
    pub balanced: i64,
    pub drained: i64,
    /// Delegations that members of a region took over from a dead one.
    pub takeover: i64,
}

/// Searches and probes.
#[derive(Debug, Clone, PartialEq)]
pub struct Searches {
    /// Searches that are open.
    pub open: i64,
    /// Searches that are over, without those that no agent got an answer for.
    pub decided: i64,
    /// Probes that searches asked for.
    pub probes: i64,
    /// Home addresses that another agent measured. Each pair counts once, though it is measured
    /// again every week.
    pub home_probes: i64,
    /// Mean number of probes of the searches that decided for good.
    pub per_search_mean: Option<f64>,
}

/// Hosts and URLs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hosts {
    /// Hosts in any state.
    pub known: i64,
    /// Hosts with an address.
    pub resolved: i64,
    /// Hosts with an agent.
    pub delegated: i64,
    /// Hosts that could not be resolved.
    pub failed: i64,
    /// URLs that wait for an agent.
    pub pending_urls: i64,
    /// URLs that were handed to one.
    pub routed_urls: i64,
}

/// Packages and the pages in them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packages {
    /// Packages in the ledger.
    pub received: i64,
    /// Packages that were ingested.
    pub ingested: i64,
    /// Sum of sizes as received.
    pub bytes: i64,
    /// Sum of sizes once inflated.
    pub plain_bytes: i64,
    /// Documents in those that were ingested.
    pub pages: i64,
    /// Bytes of bodies that agents fetched for those.
    pub wire_bytes: i64,
}

/// Counts everything. An agent whose last heartbeat was before `heartbeat_cutoff` counts as
/// unreachable.
pub async fn count(
    store: &Store,
    heartbeat_cutoff: UnixMillis,
    now: UnixMillis,
) -> Result<Counts, StoreError> {
    let doing = StoreError::doing("count everything");
    let mut tx = store.begin().await.map_err(doing)?;
    // One snapshot for all the statements: the numbers fit each other.
    sqlx::query("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        .execute(&mut *tx)
        .await
        .map_err(doing)?;
    let kept = kept(&mut tx).await?;
    let (open, routed_urls, home_probes) = few(&mut tx).await?;
    let counts = Counts {
        agents: agents(&mut tx, heartbeat_cutoff, now).await?,
        delegations: delegations(&kept),
        searches: searches(&kept, open, home_probes),
        hosts: hosts(&kept, routed_urls),
        packages: packages(&kept),
    };
    tx.commit().await.map_err(doing)?;
    Ok(counts)
}

/// The kept counts by name.
struct KeptCounts(HashMap<String, i64>);

impl KeptCounts {
    fn get(&self, name: &str) -> i64 {
        self.0.get(name).copied().unwrap_or(0)
    }

    fn delegations(&self, reason: Reason) -> i64 {
        self.get(&format!("delegations_{}", reason.as_str()))
    }

    fn all_delegations(&self) -> i64 {
        let by_reason = self.0.iter().filter(|(name, _)| {
            name.starts_with("delegations_") && *name != "delegations_provisional"
        });
        by_reason.map(|(_, value)| value).sum()
    }
}

async fn kept(db: &mut PgConnection) -> Result<KeptCounts, StoreError> {
    let rows: Vec<(String, i64)> = sqlx::query_as(include_str!("overview/kept.sql"))
        .fetch_all(db)
        .await
        .map_err(StoreError::doing("read the counts"))?;
    Ok(KeptCounts(rows.into_iter().collect()))
}

/// Delegations that hold, by reason; reasons without any are left out.
pub async fn delegations_by_reason(store: &Store) -> Result<Vec<(Reason, u64)>, StoreError> {
    let connection = store.pool().acquire().await;
    let mut connection = connection.map_err(StoreError::doing("count the delegations"))?;
    let kept = kept(&mut connection).await?;
    let mut counts = Vec::new();
    for (name, count) in &kept.0 {
        let reason = name.strip_prefix("delegations_").and_then(|word| word.parse().ok());
        if let Some(reason) = reason.filter(|_| *count > 0) {
            counts.push((reason, count.unsigned_abs()));
        }
    }
    Ok(counts)
}

/// Open searches, routed URLs and measurements of homes, from an index and small tables.
async fn few(db: &mut PgConnection) -> Result<(i64, i64, i64), StoreError> {
    sqlx::query_as(
        "SELECT (SELECT count(*) FROM searches WHERE state = 'open'),
                (SELECT coalesce(sum(next_route - 1), 0)::bigint FROM agents),
                (SELECT count(*) FROM home_times)",
    )
    .fetch_one(db)
    .await
    .map_err(StoreError::doing("count open searches"))
}

/// Adds the changes of the counts up, also of those of agents. Returns how many there were.
pub async fn add_up(store: &Store) -> Result<u64, StoreError> {
    let mut changes = 0;
    for sums in [include_str!("overview/add_up.sql"), include_str!("overview/add_up_agents.sql")] {
        let added: i64 = sqlx::query_scalar(sums)
            .fetch_one(&store.pool())
            .await
            .map_err(StoreError::doing("add up the counts"))?;
        changes += added.unsigned_abs();
    }
    Ok(changes)
}

/// Counts the agents alone, in one statement.
pub async fn count_agents(
    store: &Store,
    heartbeat_cutoff: UnixMillis,
    now: UnixMillis,
) -> Result<Agents, StoreError> {
    let connection = store.pool().acquire().await;
    let mut connection = connection.map_err(StoreError::doing("count the agents"))?;
    agents(&mut connection, heartbeat_cutoff, now).await
}

async fn agents(
    db: &mut PgConnection,
    heartbeat_cutoff: UnixMillis,
    now: UnixMillis,
) -> Result<Agents, StoreError> {
    sqlx::query_as(include_str!("overview/agents.sql"))
        .bind(Moment(heartbeat_cutoff))
        .bind(Moment(now))
        .fetch_one(db)
        .await
        .map_err(StoreError::doing("count the agents"))
}

fn delegations(kept: &KeptCounts) -> Delegations {
    Delegations {
        total: kept.all_delegations(),
        provisional: kept.get("delegations_provisional"),
        home: kept.delegations(Reason::Home),
        company: kept.delegations(Reason::Company),
        threshold: kept.delegations(Reason::Threshold),
        lowest: kept.delegations(Reason::Lowest),
        predicted: kept.delegations(Reason::Predicted),
        pinned: kept.delegations(Reason::Pinned),
        r#override: kept.delegations(Reason::Override),
        balanced: kept.delegations(Reason::Balanced),
        drained: kept.delegations(Reason::Drained),
        takeover: kept.delegations(Reason::Takeover),
    }
}

fn searches(kept: &KeptCounts, open: i64, home_probes: i64) -> Searches {
    let decisions = kept.get("decisions");
    let mean = kept.get("decisions_probes") as f64 / decisions as f64;
    Searches {
        open,
        decided: kept.get("searches_decided"),
        probes: kept.get("search_probes"),
        home_probes,
        per_search_mean: (decisions > 0).then_some(mean),
    }
}

fn hosts(kept: &KeptCounts, routed_urls: i64) -> Hosts {
    Hosts {
        known: kept.get("hosts"),
        resolved: kept.get("hosts_resolved"),
        delegated: kept.get("hosts_delegated"),
        failed: kept.get("hosts_failed"),
        pending_urls: kept.get("pending_urls"),
        routed_urls,
    }
}

fn packages(kept: &KeptCounts) -> Packages {
    Packages {
        received: kept.get("packages"),
        ingested: kept.get("packages_ingested"),
        bytes: kept.get("packages_bytes"),
        plain_bytes: kept.get("packages_plain_bytes"),
        pages: kept.get("packages_pages"),
        wire_bytes: kept.get("packages_wire_bytes"),
    }
}
