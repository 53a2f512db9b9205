//! Ingestion: what a package brings to the database, applied once.

use std::collections::BTreeSet;

use model::{HostKey, LedgerPosition, UnixMillis};
use protocol::package::PackageName;
use sqlx::PgConnection;

use crate::activity::Activity;
use crate::columns::{bigint, int};
use crate::commit::commit;
use crate::delegations::lock_delegations;
use crate::host_tally::HostTally;
use crate::moment::Moment;
use crate::round_trips::{self, SubnetRoundTrip};
use crate::urls::{self, FoundBy, NewUrl};
use crate::{
    Store, StoreError, activity, agent_countries, fetches, host_locks, loads, stray_hosts,
    timing_reports,
};

/// Changes that the ingestion of a package makes beside the index.
#[derive(Debug, Clone, PartialEq)]
pub struct Ingestion {
    /// Place of the package in the ledger.
    pub position: LedgerPosition,
    /// The package that was ingested.
    pub name: PackageName,
    /// When it was received.
    pub received_at: UnixMillis,
    /// Per host; each host once.
    pub hosts: Vec<HostTally>,
    /// Links to hosts of others, to be queued.
    pub discovered: Vec<NewUrl>,
}

/// Marks a package as ingested, counts its fetches and queues its links, in one transaction.
/// Returns its round trips to subnets; none if the package was marked already, which changes
/// nothing.
pub async fn ingest(
    store: &Store,
    ingestion: &Ingestion,
    now: UnixMillis,
) -> Result<Option<Vec<SubnetRoundTrip>>, StoreError> {
    let doing = StoreError::doing("ingest a package");
    let mut tx = store.begin().await.map_err(doing)?;
    let Some(shipped_bytes) = mark(&mut tx, ingestion, now).await? else { return Ok(None) };
    let agent = ingestion.name.agent;
    lock(&mut tx, ingestion).await?;
    count(&mut tx, &ingestion.hosts).await?;
    agent_countries::count_fetches(&mut tx, agent, &ingestion.hosts).await?;
    fetches::keep_in(&mut tx, agent, &ingestion.hosts, now).await?;
    // Packages that come back with a restored backup are work of the days before.
    loads::count(&mut tx, agent, &ingestion.hosts, ingestion.received_at).await?;
    timing_reports::count_in(&mut tx, agent, &ingestion.hosts, now).await?;
    timing_reports::begin_paths_in(&mut tx, agent, &ingestion.hosts, now).await?;
    let round_trips = round_trips::record_in(&mut tx, agent, &ingestion.hosts, now).await?;
    stray_hosts::count_in(&mut tx, agent, &ingestion.hosts, now).await?;
    let found_by = FoundBy { agent, received_at: ingestion.received_at };
    urls::queue_in(&mut tx, &ingestion.discovered, Some(found_by), now).await?;
    let activity = Activity::of_hosts(&ingestion.hosts, shipped_bytes);
    activity::count_in(&mut *tx, &[(agent, activity)], now).await?;
    commit(tx).await.map_err(doing)?;
    Ok(Some(round_trips))
}

/// Marks the package and returns its size; none if it was marked already.
async fn mark(
    db: &mut PgConnection,
    ingestion: &Ingestion,
    now: UnixMillis,
) -> Result<Option<u64>, StoreError> {
    let sum = |value: fn(&HostTally) -> u64| {
        ingestion.hosts.iter().map(value).fold(0_u64, u64::saturating_add)
    };
    let bytes: Option<i64> = sqlx::query_scalar(
        "UPDATE packages SET ingested_at = $2, ingestions = ingestions + 1, failure = NULL,
                             pages = $3, fetches = $4, wire_bytes = $5
         WHERE position = $1 AND ingested_at IS NULL RETURNING bytes",
    )
    .bind(ingestion.position.get())
    .bind(Moment(now))
    .bind(int(sum(|host| host.pages)))
    .bind(int(sum(|host| host.fetches)))
    .bind(bigint(sum(|host| host.wire_bytes)))
    .fetch_optional(db)
    .await
    .map_err(StoreError::doing("mark a package as ingested"))?;
    Ok(bytes.map(i64::unsigned_abs))
}

/// Locks everything that other transactions change in large numbers, in the order in which they
/// lock it: the agent, the delegations of the package's hosts, then these hosts and those of its
/// links.
async fn lock(db: &mut PgConnection, ingestion: &Ingestion) -> Result<(), StoreError> {
    sqlx::query("SELECT FROM agents WHERE id = $1 FOR KEY SHARE")
        .bind(ingestion.name.agent.get())
        .execute(&mut *db)
        .await
        .map_err(StoreError::doing("lock the agent of a package"))?;
    let own = || ingestion.hosts.iter().map(|host| (host.scheme.as_str(), host.authority.as_str()));
    let known = host_locks::numbers(db, own()).await?;
    lock_delegations(db, &known).await?;
    let linked: BTreeSet<HostKey> =
        ingestion.discovered.iter().map(|new| new.url.host_key()).collect();
    let linked = linked.iter().map(|host| (host.scheme(), host.authority()));
    host_locks::lock_known(db, own().chain(linked)).await
}

async fn count(db: &mut PgConnection, hosts: &[HostTally]) -> Result<(), StoreError> {
    let column = |value: fn(&HostTally) -> u64| -> Vec<i64> {
        hosts.iter().map(|host| bigint(value(host))).collect()
    };
    sqlx::query(include_str!("count.sql"))
        .bind(hosts.iter().map(|host| host.scheme.as_str()).collect::<Vec<_>>())
        .bind(hosts.iter().map(|host| host.authority.as_str()).collect::<Vec<_>>())
        .bind(column(|host| host.pages))
        .bind(column(|host| host.fetches))
        .bind(column(|host| host.wire_bytes))
        .bind(column(|host| host.fetch_ms))
        .execute(db)
        .await
        .map_err(StoreError::doing("count the fetches of a package"))?;
    Ok(())
}
