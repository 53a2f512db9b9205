//! Receiving: packages get their positions and wait to be ingested.

use std::collections::HashSet;

use model::{AgentId, LedgerPosition, UnixMillis};
use protocol::package::{Header, PackageName};
use sqlx::postgres::PgRow;
use sqlx::{FromRow, Row as _};

use super::number;
use crate::columns::{ReadColumn as _, int};
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
    /// Hosts of its fetches that are not its agent's, as scheme and authority.
    pub foreign_hosts: &'a [String],
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
    /// The agent was revoked while the package arrived.
    Revoked,
}

/// What the ledger holds under a package's name: nothing, or the hash of the package.
pub async fn find(store: &Store, name: &PackageName) -> Result<Option<Vec<u8>>, StoreError> {
    sqlx::query_scalar("SELECT sha256 FROM packages WHERE agent = $1 AND epoch = $2 AND seq = $3")
        .bind(name.agent.get())
        .bind(number(name.epoch)?)
        .bind(number(name.seq)?)
        .fetch_optional(&store.pool())
        .await
        .map_err(StoreError::doing("look a package up"))
}

/// Which of these packages the ledger has.
pub async fn known(
    store: &Store,
    names: &[PackageName],
) -> Result<HashSet<PackageName>, StoreError> {
    let agents: Vec<i64> = names.iter().map(|name| name.agent.get()).collect();
    let epochs: Vec<i64> = names.iter().map(|name| number(name.epoch)).collect::<Result<_, _>>()?;
    let seqs: Vec<i64> = names.iter().map(|name| number(name.seq)).collect::<Result<_, _>>()?;
    let known: Vec<bool> = sqlx::query_scalar(
        "SELECT EXISTS (SELECT FROM packages p
             WHERE (p.agent, p.epoch, p.seq) = (n.agent, n.epoch, n.seq))
         FROM unnest($1::bigint[], $2::bigint[], $3::bigint[])
             WITH ORDINALITY n (agent, epoch, seq, position)
         ORDER BY n.position",
    )
    .bind(agents)
    .bind(epochs)
    .bind(seqs)
    .fetch_all(&store.pool())
    .await
    .map_err(StoreError::doing("look packages up"))?;
    Ok(names.iter().zip(known).filter(|(_, known)| *known).map(|(name, _)| *name).collect())
}

/// Enters a package into the ledger; it counts as received from then on.
pub async fn enter(
    store: &Store,
    package: &ReceivedPackage<'_>,
    now: UnixMillis,
) -> Result<EnterOutcome, StoreError> {
    let doing = StoreError::doing("enter a package");
    let name = &package.header.name;
    let mut tx = store.begin().await.map_err(doing)?;
    let entered = sqlx::query(include_str!("enter.sql"))
        .bind(name.agent.get())
        .bind(number(name.epoch)?)
        .bind(number(name.seq)?)
        .bind(package.sha256)
        .bind(package.object)
        .bind(number(package.bytes)?)
        .bind(number(package.header.plain_bytes)?)
        .bind(int(package.header.entries))
        .bind(Moment(now))
        .bind(package.foreign_hosts)
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
    Ok(match known {
        Some(known) if known == package.sha256 => EnterOutcome::Duplicate,
        Some(_) => EnterOutcome::Conflict,
        None => EnterOutcome::Revoked,
    })
}

/// The ledger as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ledger {
    /// Identifies it among the ledgers of other databases.
    pub id: String,
    /// Position of the package that was entered last; 0 before the first.
    pub last: LedgerPosition,
    /// Number of the last removal of an agent's pages; 0 before the first.
    pub removals: u64,
}

/// The state of the ledger. All packages up to its last position are committed.
pub async fn ledger(store: &Store) -> Result<Ledger, StoreError> {
    let (id, last, removals): (String, i64, i64) =
        sqlx::query_as("SELECT instance::text, last, removals FROM package_ledger")
            .fetch_one(&store.pool())
            .await
            .map_err(StoreError::doing("read the end of the ledger of packages"))?;
    Ok(Ledger { id, last: LedgerPosition::new(last), removals: removals.unsigned_abs() })
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerPackage {
    /// Its place in the ledger.
    pub position: LedgerPosition,
    /// Its agent, epoch and number.
    pub name: PackageName,
    /// SHA-256 of the whole package.
    pub sha256: Vec<u8>,
    /// Its place in object storage.
    pub object: String,
    /// Hosts of its fetches that are not its agent's, as scheme and authority.
    pub foreign_hosts: Vec<String>,
    /// Its agent's key.
    pub key: Vec<u8>,
    /// Whether no index contains pages of its agent any more.
    pub pages_are_removed: bool,
    /// When it was entered.
    pub received_at: UnixMillis,
    /// Whether its changes were applied to the database.
    pub is_ingested: bool,
    /// How often its ingestion failed.
    pub failures: u32,
}

impl FromRow<'_, PgRow> for LedgerPackage {
    fn from_row(row: &PgRow) -> sqlx::Result<Self> {
        let name = PackageName {
            agent: row.read("agent")?,
            epoch: row.read("epoch")?,
            seq: row.read("seq")?,
        };
        Ok(Self {
            position: row.read("position")?,
            name,
            sha256: row.try_get("sha256")?,
            object: row.try_get("object")?,
            foreign_hosts: row.try_get("foreign_hosts")?,
            key: row.try_get("public_key")?,
            pages_are_removed: row.try_get("pages_are_removed")?,
            received_at: row.read("received_at")?,
            is_ingested: row.try_get("is_ingested")?,
            failures: row.read("failures")?,
        })
    }
}

/// A package that a coordinator has not taken yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WaitingPackage {
    /// Its place in the ledger.
    pub position: LedgerPosition,
    /// The agent that sent it.
    pub agent: AgentId,
    /// Bytes of its inflated body.
    pub plain_bytes: u64,
}

/// The packages at these positions and this many after `last`, in their order.
pub async fn waiting(
    store: &Store,
    last: LedgerPosition,
    also: &[LedgerPosition],
    limit: u32,
) -> Result<Vec<WaitingPackage>, StoreError> {
    let also: Vec<i64> = also.iter().map(|position| position.get()).collect();
    let rows: Vec<(i64, i64, i64)> = sqlx::query_as(include_str!("waiting.sql"))
        .bind(last.get())
        .bind(also)
        .bind(i64::from(limit))
        .fetch_all(&store.pool())
        .await
        .map_err(StoreError::doing("list the packages that wait"))?;
    let read = |(position, agent, plain_bytes): (i64, i64, i64)| WaitingPackage {
        position: LedgerPosition::new(position),
        agent: AgentId::new(agent),
        plain_bytes: plain_bytes.unsigned_abs(),
    };
    Ok(rows.into_iter().map(read).collect())
}

/// The packages at these positions.
pub async fn at(
    store: &Store,
    positions: &[LedgerPosition],
) -> Result<Vec<LedgerPackage>, StoreError> {
    sqlx::query_as(concat!(include_str!("columns.sql"), "WHERE p.position = ANY($1)"))
        .bind(positions.iter().map(|position| position.get()).collect::<Vec<_>>())
        .fetch_all(&store.pool())
        .await
        .map_err(StoreError::doing("read packages of the ledger"))
}

/// Packages that have not failed and whose changes are applied when their turn comes.
#[derive(Debug, Clone, Default)]
pub struct InTurn {
    /// Their positions, as far as they are known one by one.
    pub positions: Vec<LedgerPosition>,
    /// All those after the first and up to the second position.
    pub range: Option<(LedgerPosition, LedgerPosition)>,
}

/// Packages whose changes are to be applied now, in their order, except those `in_turn`. A package
/// that failed is left out until its next attempt is due.
pub async fn pending(
    store: &Store,
    in_turn: &InTurn,
    now: UnixMillis,
    limit: u32,
) -> Result<Vec<LedgerPackage>, StoreError> {
    let positions: Vec<i64> = in_turn.positions.iter().map(|position| position.get()).collect();
    let (after, until) = in_turn.range.unzip();
    sqlx::query_as(concat!(include_str!("columns.sql"), include_str!("pending.sql")))
        .bind(Moment(now))
        .bind(i64::from(limit))
        .bind(positions)
        .bind(after.map(LedgerPosition::get))
        .bind(until.map(LedgerPosition::get))
        .fetch_all(&store.pool())
        .await
        .map_err(StoreError::doing("list the pending packages"))
}
