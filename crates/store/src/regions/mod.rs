//! Regions: their signed rosters, the coordinator's promises and loans, and the agents that want to
//! be in one.
//!
//! The leader keeps their state in memory. What it writes is fenced by its term: a deposed leader
//! must not overwrite what the new one has promised.

mod loans;

use std::collections::BTreeMap;
use std::net::IpAddr;

use hierarchy::Range;
use model::{AgentId, RegionId, UnixMillis};
use protocol::key::PublicKey;
use serde_json::Value;
use sqlx::PgConnection;
use sqlx::types::Json;

use crate::gift::Gift;
use crate::leader::begin_in;
use crate::moment::Moment;
use crate::{Store, StoreError, Term};

pub use loans::Loans;

/// A region as it is stored.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredRegion {
    /// Primary key of the row.
    pub id: RegionId,
    /// Registry or label.
    pub name: String,
    /// Times and bounds of all members.
    pub settings: Value,
    /// Roster and deltas, signed and encoded.
    pub view: Vec<u8>,
    /// Promises of the coordinator, encoded; none before the first.
    pub promises: Option<Vec<u8>>,
    /// End of the last loan.
    pub lent_until: UnixMillis,
}

type RegionRow = (i64, String, Value, Vec<u8>, Option<Vec<u8>>, Moment);

/// Every region, the oldest first.
pub async fn list(store: &Store) -> Result<Vec<StoredRegion>, StoreError> {
    let rows: Vec<RegionRow> = sqlx::query_as(
        "SELECT id, name, settings, view, promises, lent_until FROM regions ORDER BY id",
    )
    .fetch_all(&store.pool())
    .await
    .map_err(StoreError::doing("list the regions"))?;
    let region = |(id, name, settings, view, promises, lent): RegionRow| StoredRegion {
        id: RegionId::new(id),
        name,
        settings,
        view,
        promises,
        lent_until: lent.0,
    };
    Ok(rows.into_iter().map(region).collect())
}

/// The number of the next region. A roster names its region, so the number is needed before the
/// row; a number that is not used is lost.
pub async fn next_id(store: &Store) -> Result<RegionId, StoreError> {
    sqlx::query_scalar("SELECT nextval(pg_get_serial_sequence('regions', 'id'))")
        .fetch_one(&store.pool())
        .await
        .map(RegionId::new)
        .map_err(StoreError::doing("number a region"))
}

/// Stores a new region.
pub async fn create(
    store: &Store,
    term: Term,
    region: &StoredRegion,
    members: &[AgentId],
    now: UnixMillis,
) -> Result<(), StoreError> {
    let doing = StoreError::doing("store a region");
    let mut tx = begin_in(store, term).await?;
    sqlx::query(
        "INSERT INTO regions (id, name, settings, view, lent_until, formed_at)
         OVERRIDING SYSTEM VALUE VALUES ($1, $2, $3, $4, $5, $6)",
    )
    .bind(region.id.get())
    .bind(&region.name)
    .bind(&region.settings)
    .bind(&region.view)
    .bind(Moment(region.lent_until))
    .bind(Moment(now))
    .execute(&mut *tx)
    .await
    .map_err(doing)?;
    set_members(&mut tx, region.id, members).await?;
    tx.commit().await.map_err(doing)
}

/// Stores a newer view of a region before it is published. What agents that left have had stays the
/// region's until its loans have ended, or [`let_go`].
pub async fn save_view(
    store: &Store,
    term: Term,
    region: RegionId,
    view: &[u8],
    members: &[AgentId],
) -> Result<(), StoreError> {
    let doing = StoreError::doing("store the view of a region");
    let mut tx = begin_in(store, term).await?;
    sqlx::query("UPDATE regions SET view = $2 WHERE id = $1")
        .bind(region.get())
        .bind(view)
        .execute(&mut *tx)
        .await
        .map_err(doing)?;
    set_members(&mut tx, region, members).await?;
    tx.commit().await.map_err(doing)
}

async fn set_members(
    db: &mut PgConnection,
    region: RegionId,
    members: &[AgentId],
) -> Result<(), StoreError> {
    sqlx::query("UPDATE agents SET region = $1 WHERE id = ANY($2)")
        .bind(region.get())
        .bind(numbers(members))
        .execute(db)
        .await
        .map_err(StoreError::doing("store the members of a region"))?;
    Ok(())
}

/// The agents of each region: those in its roster, and those that left and were not let go.
pub async fn members(store: &Store) -> Result<BTreeMap<RegionId, Vec<AgentId>>, StoreError> {
    let rows: Vec<(i64, i64)> =
        sqlx::query_as("SELECT region, id FROM agents WHERE region IS NOT NULL ORDER BY id")
            .fetch_all(&store.pool())
            .await
            .map_err(StoreError::doing("list the members of regions"))?;
    let mut members: BTreeMap<RegionId, Vec<AgentId>> = BTreeMap::new();
    for (region, agent) in rows {
        members.entry(RegionId::new(region)).or_default().push(AgentId::new(agent));
    }
    Ok(members)
}

/// Stores that agents have left a region: its loan does not keep their subnets any more.
pub async fn let_go(
    store: &Store,
    term: Term,
    region: RegionId,
    agents: &[AgentId],
) -> Result<(), StoreError> {
    let doing = StoreError::doing("store that agents left a region");
    let mut tx = begin_in(store, term).await?;
    sqlx::query("UPDATE agents SET region = NULL WHERE region = $1 AND id = ANY($2)")
        .bind(region.get())
        .bind(numbers(agents))
        .execute(&mut *tx)
        .await
        .map_err(doing)?;
    tx.commit().await.map_err(doing)
}

/// Deletes those of the regions that are over: no agent is in them, and their loans ended before
/// `before`. Returns which were deleted.
pub async fn forget(
    store: &Store,
    term: Term,
    regions: &[RegionId],
    before: UnixMillis,
) -> Result<Vec<RegionId>, StoreError> {
    let doing = StoreError::doing("delete regions that ended long ago");
    let mut tx = begin_in(store, term).await?;
    let deleted: Vec<i64> = sqlx::query_scalar(
        "DELETE FROM regions r WHERE id = ANY($1) AND lent_until < $2
           AND NOT EXISTS (SELECT FROM agents a WHERE a.region = r.id)
         RETURNING id",
    )
    .bind(regions.iter().map(|region| region.get()).collect::<Vec<_>>())
    .bind(Moment(before))
    .fetch_all(&mut *tx)
    .await
    .map_err(doing)?;
    tx.commit().await.map_err(doing)?;
    Ok(deleted.into_iter().map(RegionId::new).collect())
}

/// Stores the coordinator's promises before it answers.
pub async fn save_promises(
    store: &Store,
    term: Term,
    region: RegionId,
    promises: &[u8],
) -> Result<(), StoreError> {
    let doing = StoreError::doing("store the promises to a region");
    let mut tx = begin_in(store, term).await?;
    sqlx::query("UPDATE regions SET promises = $2 WHERE id = $1")
        .bind(region.get())
        .bind(promises)
        .execute(&mut *tx)
        .await
        .map_err(doing)?;
    tx.commit().await.map_err(doing)
}

/// Stores the end of a loan before it is given.
pub async fn save_loan(
    store: &Store,
    term: Term,
    region: RegionId,
    until: UnixMillis,
) -> Result<(), StoreError> {
    let doing = StoreError::doing("store the loan of a region");
    let mut tx = begin_in(store, term).await?;
    sqlx::query("UPDATE regions SET lent_until = greatest(lent_until, $2) WHERE id = $1")
        .bind(region.get())
        .bind(Moment(until))
        .execute(&mut *tx)
        .await
        .map_err(doing)?;
    tx.commit().await.map_err(doing)
}

/// An approved agent whose owner wants it to be in a region.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// The agent itself.
    pub agent: AgentId,
    /// Key of its messages.
    pub key: PublicKey,
    /// The address it enrolled from.
    pub home: IpAddr,
    /// Pages a day that the owner offers.
    pub capacity_pages_per_day: u32,
    /// Base URLs at which it listens for peers.
    pub addresses: Vec<String>,
    /// Region that the owner asks for.
    pub label: Option<String>,
    /// Region whose roster lists it, or whose loan keeps what it had.
    pub region: Option<RegionId>,
}

type CandidateRow = (i64, Vec<u8>, IpAddr, i32, Json<Vec<String>>, Option<String>, Option<i64>);

/// The agents that may be in a region: approved or paused, by number.
pub async fn candidates(store: &Store) -> Result<Vec<Candidate>, StoreError> {
    let rows: Vec<CandidateRow> = sqlx::query_as(include_str!("candidates.sql"))
        .fetch_all(&store.pool())
        .await
        .map_err(StoreError::doing("list the agents for regions"))?;
    let candidate = |row: CandidateRow| {
        let (id, key, home, capacity, addresses, label, region) = row;
        Ok(Candidate {
            agent: AgentId::new(id),
            key: PublicKey::from_bytes(&key)
                .map_err(|_| StoreError::unreadable("agents.public_key"))?,
            home,
            capacity_pages_per_day: capacity.unsigned_abs(),
            addresses: addresses.0,
            label,
            region: region.map(RegionId::new),
        })
    };
    rows.into_iter().map(candidate).collect()
}

/// Stores that an agent wants to be in a region. Returns whether anything changed.
pub async fn announce(
    store: &Store,
    agent: AgentId,
    addresses: &[String],
    label: Option<&str>,
) -> Result<bool, StoreError> {
    let changed = sqlx::query(include_str!("announce.sql"))
        .bind(agent.get())
        .bind(Json(addresses))
        .bind(label)
        .execute(&store.pool())
        .await
        .map_err(StoreError::doing("store where an agent listens"))?;
    Ok(changed.rows_affected() > 0)
}

/// Whether a loan forbids one of these gifts: the subnet was last delegated to an agent of a region
/// with a loan, and the region does not move it by itself. Until the loan ends, the region may
/// crawl the subnet, even if the coordinator hears nothing from it.
pub(crate) async fn is_lent(
    db: &mut PgConnection,
    gifts: &[Gift],
    now: UnixMillis,
) -> Result<bool, StoreError> {
    let changes = gifts.iter().map(|gift| (&gift.subnet, Some(gift.agent), gift.moved_from));
    has_loan(db, changes, now).await
}

/// Whether a loan forbids that the subnet is taken from its agent without another one that gets it.
pub(crate) async fn is_kept_by_loan(
    db: &mut PgConnection,
    subnet: &Range,
    now: UnixMillis,
) -> Result<bool, StoreError> {
    has_loan(db, [(subnet, None, None)].into_iter(), now).await
}

/// Whether one of these subnets may not go to the first agent, from the second one, because of a
/// loan.
async fn has_loan<'a>(
    db: &mut PgConnection,
    changes: impl Iterator<Item = (&'a Range, Option<AgentId>, Option<AgentId>)> + Clone,
    now: UnixMillis,
) -> Result<bool, StoreError> {
    let lent: Vec<i64> = sqlx::query_scalar(include_str!("lent.sql"))
        .bind(changes.clone().map(|(subnet, ..)| subnet.first()).collect::<Vec<_>>())
        .bind(changes.clone().map(|(subnet, ..)| subnet.last()).collect::<Vec<_>>())
        .bind(changes.clone().map(|(_, to, _)| to.map(AgentId::get)).collect::<Vec<_>>())
        .bind(changes.map(|(.., from)| from.map(AgentId::get)).collect::<Vec<_>>())
        .bind(Moment(now))
        .fetch_all(db)
        .await
        .map_err(StoreError::doing("look for loans of subnets"))?;
    Ok(!lent.is_empty())
}

fn numbers(agents: &[AgentId]) -> Vec<i64> {
    agents.iter().map(|agent| agent.get()).collect()
}
