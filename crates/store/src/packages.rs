//! Ledger of packages: each package is ingested exactly once.

use model::{AgentId, UnixMillis};
use protocol::package::{Header, PackageName};
use sqlx::PgConnection;

use crate::commit::commit;
use crate::host_tally::HostTally;
use crate::line::one_line;
use crate::moment::Moment;
use crate::round_trips::{self, SubnetRoundTrip};
use crate::urls::{self, NewUrl};
use crate::{Store, StoreError, loads, timing_reports};

/// A package whose body is stored.
#[derive(Debug, Clone, Copy)]
pub struct ReceivedPackage<'a> {
    /// Its signed part.
    pub header: &'a Header,
    /// SHA-256 of the whole package.
    pub sha256: &'a [u8],
    /// Its place in object storage.
    pub object: &'a str,
    /// Its size in bytes.
    pub bytes: u64,
}

/// Outcome of entering a package.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EnterOutcome {
    /// The package is new.
    New,
    /// The ledger has the same package.
    Duplicate,
    /// Another package has this name.
    Conflict,
}

/// What the ledger holds under a package's name: nothing, or the hash of the package.
pub async fn find(store: &Store, name: &PackageName) -> Result<Option<Vec<u8>>, StoreError> {
    sqlx::query_scalar("SELECT sha256 FROM packages WHERE agent = $1 AND epoch = $2 AND seq = $3")
        .bind(name.agent.get())
        .bind(number(name.epoch)?)
        .bind(number(name.seq)?)
        .fetch_optional(store.pool())
        .await
        .map_err(StoreError::doing("look a package up"))
}

/// Enters a package into the ledger; it counts as received from then on.
pub async fn enter(
    store: &Store,
    package: &ReceivedPackage<'_>,
    now: UnixMillis,
) -> Result<EnterOutcome, StoreError> {
    let name = &package.header.name;
    let entered = sqlx::query(include_str!("packages/enter.sql"))
        .bind(name.agent.get())
        .bind(number(name.epoch)?)
        .bind(number(name.seq)?)
        .bind(package.sha256)
        .bind(package.object)
        .bind(number(package.bytes)?)
        .bind(number(package.header.plain_bytes)?)
        .bind(i32::try_from(package.header.entries).unwrap_or(i32::MAX))
        .bind(Moment(now))
        .execute(store.pool())
        .await
        .map_err(StoreError::doing("enter a package"))?;
    if entered.rows_affected() == 1 {
        return Ok(EnterOutcome::New);
    }
    let known = find(store, name).await?;
    Ok(if known.as_deref() == Some(package.sha256) {
        EnterOutcome::Duplicate
    } else {
        EnterOutcome::Conflict
    })
}

/// A package that waits to be ingested.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingPackage {
    /// Name given by its owner.
    pub name: PackageName,
    /// SHA-256 of the whole package.
    pub sha256: Vec<u8>,
    /// Its place in object storage.
    pub object: String,
    /// Its agent's key.
    pub key: Vec<u8>,
    /// When it was entered.
    pub received_at: UnixMillis,
}

type PendingRow = (i64, i64, i64, Vec<u8>, String, Vec<u8>, Moment);

/// Packages to be ingested, in the order of arrival and, within an epoch of an agent, of their
/// numbers.
pub async fn pending(store: &Store, limit: u32) -> Result<Vec<PendingPackage>, StoreError> {
    let rows: Vec<PendingRow> = sqlx::query_as(
        "SELECT p.agent, p.epoch, p.seq, p.sha256, p.object, a.public_key, p.received_at
         FROM packages p JOIN agents a ON a.id = p.agent
         WHERE p.ingested_at IS NULL AND p.refused IS NULL
         ORDER BY p.received_at, p.agent, p.epoch, p.seq LIMIT $1",
    )
    .bind(i64::from(limit))
    .fetch_all(store.pool())
    .await
    .map_err(StoreError::doing("list the pending packages"))?;
    Ok(rows.into_iter().map(|row| read_row(row).1).collect())
}

/// Position of a package in the order of arrival.
pub type LedgerPosition = (UnixMillis, PackageName);

/// Ingested packages, in the order of [`pending`], from the beginning or after a position.
pub async fn ingested(
    store: &Store,
    after: Option<&LedgerPosition>,
    limit: u32,
) -> Result<Vec<(LedgerPosition, PendingPackage)>, StoreError> {
    let (at, name) = after
        .copied()
        .unwrap_or((UnixMillis(0), PackageName { agent: AgentId::new(0), epoch: 0, seq: 0 }));
    let rows: Vec<PendingRow> = sqlx::query_as(include_str!("packages/ingested.sql"))
        .bind(Moment(at))
        .bind(name.agent.get())
        .bind(number(name.epoch)?)
        .bind(number(name.seq)?)
        .bind(i64::from(limit))
        .fetch_all(store.pool())
        .await
        .map_err(StoreError::doing("list the packages that were ingested"))?;
    Ok(rows.into_iter().map(read_row).collect())
}

fn read_row(
    (agent, epoch, seq, sha256, object, key, received_at): PendingRow,
) -> (LedgerPosition, PendingPackage) {
    let name = PackageName {
        agent: AgentId::new(agent),
        epoch: epoch.unsigned_abs(),
        seq: seq.unsigned_abs(),
    };
    (
        (received_at.0, name),
        PendingPackage { name, sha256, object, key, received_at: received_at.0 },
    )
}

/// Changes that the ingestion of a package makes beside the index.
#[derive(Debug, Clone, PartialEq)]
pub struct Ingestion {
    /// The package that was ingested.
    pub name: PackageName,
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
    let mut tx = store.pool().begin().await.map_err(doing)?;
    if !mark(&mut tx, ingestion, now).await? {
        return Ok(None);
    }
    count(&mut tx, &ingestion.hosts).await?;
    loads::count(&mut tx, &ingestion.hosts, now).await?;
    timing_reports::count_in(&mut tx, ingestion.name.agent, &ingestion.hosts, now).await?;
    let round_trips =
        round_trips::record_in(&mut tx, ingestion.name.agent, &ingestion.hosts, now).await?;
    urls::queue_in(&mut tx, &ingestion.discovered, now).await?;
    commit(tx).await.map_err(doing)?;
    Ok(Some(round_trips))
}

async fn mark(
    db: &mut PgConnection,
    ingestion: &Ingestion,
    now: UnixMillis,
) -> Result<bool, StoreError> {
    let sum = |value: fn(&HostTally) -> u64| ingestion.hosts.iter().map(value).sum::<u64>();
    let marked = sqlx::query(
        "UPDATE packages SET ingested_at = $4, ingestions = ingestions + 1,
                             pages = $5, fetches = $6, wire_bytes = $7
         WHERE agent = $1 AND epoch = $2 AND seq = $3 AND ingested_at IS NULL AND refused IS NULL",
    )
    .bind(ingestion.name.agent.get())
    .bind(number(ingestion.name.epoch)?)
    .bind(number(ingestion.name.seq)?)
    .bind(Moment(now))
    .bind(i32::try_from(sum(|host| host.pages)).unwrap_or(i32::MAX))
    .bind(i32::try_from(sum(|host| host.fetches)).unwrap_or(i32::MAX))
    .bind(number(sum(|host| host.wire_bytes))?)
    .execute(db)
    .await
    .map_err(StoreError::doing("mark a package as ingested"))?;
    Ok(marked.rows_affected() == 1)
}

async fn count(db: &mut PgConnection, hosts: &[HostTally]) -> Result<(), StoreError> {
    let column = |value: fn(&HostTally) -> u64| -> Result<Vec<i64>, StoreError> {
        hosts.iter().map(|host| number(value(host))).collect()
    };
    sqlx::query(include_str!("packages/count.sql"))
        .bind(hosts.iter().map(|host| host.scheme.as_str()).collect::<Vec<_>>())
        .bind(hosts.iter().map(|host| host.authority.as_str()).collect::<Vec<_>>())
        .bind(column(|host| host.pages)?)
        .bind(column(|host| host.fetches)?)
        .bind(column(|host| host.wire_bytes)?)
        .bind(column(|host| host.fetch_ms)?)
        .execute(db)
        .await
        .map_err(StoreError::doing("count the fetches of a package"))?;
    Ok(())
}

/// Refuses a signed package that cannot be ingested.
pub async fn refuse(store: &Store, name: &PackageName, reason: &str) -> Result<(), StoreError> {
    sqlx::query(include_str!("packages/refuse.sql"))
        .bind(name.agent.get())
        .bind(number(name.epoch)?)
        .bind(number(name.seq)?)
        .bind(one_line(reason))
        .execute(store.pool())
        .await
        .map_err(StoreError::doing("refuse a package"))?;
    Ok(())
}

/// Most ingestions of one package; an audit expects 1, or 0 without packages.
pub async fn most_ingestions(store: &Store) -> Result<i64, StoreError> {
    sqlx::query_scalar("SELECT coalesce(max(ingestions), 0)::bigint FROM packages")
        .fetch_one(store.pool())
        .await
        .map_err(StoreError::doing("audit the ledger of packages"))
}

fn number(value: u64) -> Result<i64, StoreError> {
    i64::try_from(value).map_err(|_| StoreError::conflict("a number larger than 2^63 - 1"))
}
