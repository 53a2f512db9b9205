//! Receiving: packages get their positions and wait to be ingested.

use model::{AgentId, LedgerPosition, UnixMillis};
use protocol::package::{Header, PackageName};
use sqlx::FromRow;

use super::number;
use crate::moment::Moment;
use crate::{Store, StoreError};

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
    let doing = StoreError::doing("enter a package");
    let name = &package.header.name;
    let mut tx = store.pool().begin().await.map_err(doing)?;
    let entered = sqlx::query(include_str!("enter.sql"))
        .bind(name.agent.get())
        .bind(number(name.epoch)?)
        .bind(number(name.seq)?)
        .bind(package.sha256)
        .bind(package.object)
        .bind(number(package.bytes)?)
        .bind(number(package.header.plain_bytes)?)
        .bind(i32::try_from(package.header.entries).unwrap_or(i32::MAX))
        .bind(Moment(now))
        .execute(&mut *tx)
        .await
        .map_err(doing)?;
    if entered.rows_affected() == 1 {
        tx.commit().await.map_err(doing)?;
        return Ok(EnterOutcome::New);
    }
    // The position that was taken is given back.
    tx.rollback().await.map_err(doing)?;
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
    /// Its place in the ledger.
    pub position: LedgerPosition,
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
    /// How often its ingestion failed.
    pub failures: u32,
}

#[derive(FromRow)]
struct PendingRow {
    position: i64,
    agent: i64,
    epoch: i64,
    seq: i64,
    sha256: Vec<u8>,
    object: String,
    public_key: Vec<u8>,
    received_at: Moment,
    failures: i32,
}

/// Packages to be ingested now, in the order of their positions. A package that failed is left out
/// until its next attempt is due.
pub async fn pending(
    store: &Store,
    now: UnixMillis,
    limit: u32,
) -> Result<Vec<PendingPackage>, StoreError> {
    let rows: Vec<PendingRow> = sqlx::query_as(
        "SELECT p.position, p.agent, p.epoch, p.seq, p.sha256, p.object, a.public_key,
                p.received_at, p.failures
         FROM packages p JOIN agents a ON a.id = p.agent
         WHERE p.ingested_at IS NULL AND (p.retry_at IS NULL OR p.retry_at <= $1)
         ORDER BY p.position LIMIT $2",
    )
    .bind(Moment(now))
    .bind(i64::from(limit))
    .fetch_all(store.pool())
    .await
    .map_err(StoreError::doing("list the pending packages"))?;
    Ok(rows.into_iter().map(PendingRow::read).collect())
}

/// Ingested packages after a position, in the order of their positions.
pub async fn ingested(
    store: &Store,
    after: LedgerPosition,
    limit: u32,
) -> Result<Vec<PendingPackage>, StoreError> {
    let rows: Vec<PendingRow> = sqlx::query_as(
        "SELECT p.position, p.agent, p.epoch, p.seq, p.sha256, p.object, a.public_key,
                p.received_at, p.failures
         FROM packages p JOIN agents a ON a.id = p.agent
         WHERE p.ingested_at IS NOT NULL AND p.position > $1
         ORDER BY p.position LIMIT $2",
    )
    .bind(after.get())
    .bind(i64::from(limit))
    .fetch_all(store.pool())
    .await
    .map_err(StoreError::doing("list the packages that were ingested"))?;
    Ok(rows.into_iter().map(PendingRow::read).collect())
}

impl PendingRow {
    fn read(self) -> PendingPackage {
        let name = PackageName {
            agent: AgentId::new(self.agent),
            epoch: self.epoch.unsigned_abs(),
            seq: self.seq.unsigned_abs(),
        };
        PendingPackage {
            position: LedgerPosition::new(self.position),
            name,
            sha256: self.sha256,
            object: self.object,
            key: self.public_key,
            received_at: self.received_at.0,
            failures: self.failures.unsigned_abs(),
        }
    }
}
