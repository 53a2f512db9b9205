//! Counts for the overview.
//!
//! The statements read whole tables, so that the counts cannot differ from the rows; frequent
//! callers use a cache.

use model::UnixMillis;
use sqlx::{FromRow, PgConnection};

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
#[derive(Debug, Clone, PartialEq, Eq, FromRow)]
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

/// Delegations that hold, by reason.
#[derive(Debug, Clone, PartialEq, Eq, FromRow)]
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
}

/// Searches and probes.
#[derive(Debug, Clone, PartialEq, FromRow)]
pub struct Searches {
    /// Searches that are open.
    pub open: i64,
    /// Searches that were decided.
    pub decided: i64,
    /// Probes that searches asked for.
    pub probes: i64,
    /// Mean number of probes of searches that led to a delegation.
    pub per_search_mean: Option<f64>,
}

/// Hosts and URLs.
#[derive(Debug, Clone, PartialEq, Eq, FromRow)]
pub struct Hosts {
    /// Hosts in whatever state.
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
#[derive(Debug, Clone, PartialEq, Eq, FromRow)]
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
    let mut tx = store.pool().begin().await.map_err(doing)?;
    // One snapshot for all the statements: the numbers fit each other.
    sqlx::query("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        .execute(&mut *tx)
        .await
        .map_err(doing)?;
    let counts = Counts {
        agents: agents(&mut tx, heartbeat_cutoff, now).await?,
        delegations: one(&mut tx, DELEGATIONS).await?,
        searches: one(&mut tx, SEARCHES).await?,
        hosts: one(&mut tx, HOSTS).await?,
        packages: one(&mut tx, PACKAGES).await?,
    };
    tx.commit().await.map_err(doing)?;
    Ok(counts)
}

async fn one<T>(db: &mut PgConnection, statement: &'static str) -> Result<T, StoreError>
where
    T: for<'r> FromRow<'r, sqlx::postgres::PgRow> + Send + Unpin,
{
    sqlx::query_as(statement).fetch_one(db).await.map_err(StoreError::doing("count everything"))
}

/// Counts the agents alone, which are few. The other counts of [`count`] read large tables.
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

const DELEGATIONS: &str = include_str!("overview/delegations.sql");

const SEARCHES: &str = "SELECT
        (SELECT count(*) FROM searches WHERE state = 'open') AS open,
        (SELECT count(*) FROM searches WHERE state = 'decided') AS decided,
        (SELECT count(*) FROM probes WHERE search IS NOT NULL) AS probes,
        (SELECT avg(asked)::double precision FROM (
            SELECT count(p.id) AS asked
            FROM (SELECT DISTINCT search FROM delegations WHERE search IS NOT NULL) d
            LEFT JOIN probes p ON p.search = d.search
            GROUP BY d.search) AS each) AS per_search_mean";

const HOSTS: &str = "SELECT count(*) AS known,
        count(address) AS resolved,
        count(*) FILTER (WHERE state = 'delegated') AS delegated,
        count(*) FILTER (WHERE state = 'failed') AS failed,
        (SELECT count(*) FROM pending_urls) AS pending_urls,
        (SELECT coalesce(sum(next_route - 1), 0)::bigint FROM agents) AS routed_urls
    FROM hosts";

const PACKAGES: &str = "SELECT count(*) AS received,
        count(*) FILTER (WHERE ingestions > 0) AS ingested,
        coalesce(sum(bytes), 0)::bigint AS bytes,
        coalesce(sum(plain_bytes), 0)::bigint AS plain_bytes,
        coalesce(sum(pages), 0)::bigint AS pages,
        least(coalesce(sum(wire_bytes), 0), 9223372036854775807)::bigint AS wire_bytes
    FROM packages";
