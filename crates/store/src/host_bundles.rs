//! Bundles with which hosts are handed over.
//!
//! The former agent of a host sends its bundle ([`sender_of`], [`enter`]) before it confirms the
//! order. The bundle is offered ([`offered`]) to the agent that has the host by then, which reads
//! it ([`find`]) and says so ([`taken`]).

use model::{AgentId, HostId, UnixMillis};
use protocol::BundleOffer;

use crate::columns::bigint;
use crate::moment::Moment;
use crate::{Store, StoreError};

/// A bundle that was stored.
#[derive(Debug, Clone)]
pub struct ReceivedBundle<'a> {
    /// The order that released the host.
    pub order: u64,
    /// The host that was released.
    pub host: HostId,
    /// The agent that sent it.
    pub agent: AgentId,
    /// Key of the blob.
    pub object: &'a str,
    /// Size of the blob.
    pub bytes: u64,
}

/// The host that an order of this agent releases; none where there is no such order, or the agent
/// has confirmed it.
pub async fn sender_of(
    store: &Store,
    agent: AgentId,
    order: u64,
) -> Result<Option<HostId>, StoreError> {
    let host: Option<i64> = sqlx::query_scalar(
        "SELECT host FROM handovers
         WHERE id = $2 AND agent = $1 AND task = 'release' AND confirmed_at IS NULL",
    )
    .bind(agent.get())
    .bind(bigint(order))
    .fetch_optional(&store.pool())
    .await
    .map_err(StoreError::doing("find the order of a host bundle"))?;
    Ok(host.map(HostId::new))
}

/// Enters a bundle. The first one of an order stays; returns whether it is this one.
pub async fn enter(
    store: &Store,
    bundle: &ReceivedBundle<'_>,
    now: UnixMillis,
) -> Result<bool, StoreError> {
    let entered = sqlx::query(
        "INSERT INTO host_bundles (handover, host, agent, object, bytes, received_at)
         VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (handover) DO NOTHING",
    )
    .bind(bigint(bundle.order))
    .bind(bundle.host.get())
    .bind(bundle.agent.get())
    .bind(bundle.object)
    .bind(bigint(bundle.bytes))
    .bind(Moment(now))
    .execute(&store.pool())
    .await
    .map_err(StoreError::doing("enter a host bundle"))?;
    Ok(entered.rows_affected() > 0)
}

/// Bytes of the bundles that this agent sent and no agent took yet.
pub async fn bytes_of(store: &Store, agent: AgentId) -> Result<u64, StoreError> {
    let bytes: i64 = sqlx::query_scalar(
        "SELECT coalesce(sum(bytes), 0)::bigint FROM host_bundles WHERE agent = $1",
    )
    .bind(agent.get())
    .fetch_one(&store.pool())
    .await
    .map_err(StoreError::doing("add up the host bundles of an agent"))?;
    Ok(bytes.unsigned_abs())
}

/// Whether a blob is the one of the bundle that was entered for an order.
pub async fn is_entered(store: &Store, order: u64, object: &str) -> Result<bool, StoreError> {
    sqlx::query_scalar(
        "SELECT EXISTS (SELECT FROM host_bundles WHERE handover = $1 AND object = $2)",
    )
    .bind(bigint(order))
    .bind(object)
    .fetch_one(&store.pool())
    .await
    .map_err(StoreError::doing("compare a host bundle"))
}

type OfferRow = (i64, String, String, bool, bool);

/// How long a bundle waits for its sender to confirm an order that has lapsed, in milliseconds. The
/// sender confirms it after its last results; then it is known whether they counted.
const CONFIRMATION_MS: i64 = 3_600_000;

/// Bundles of hosts that an agent has by now, the oldest first.
pub async fn offered(
    store: &Store,
    agent: AgentId,
    limit: usize,
    now: UnixMillis,
) -> Result<Vec<BundleOffer>, StoreError> {
    let rows: Vec<OfferRow> = sqlx::query_as(include_str!("host_bundles/offered.sql"))
        .bind(agent.get())
        .bind(bigint(limit))
        .bind(Moment(now.plus_ms(-CONFIRMATION_MS)))
        .fetch_all(&store.pool())
        .await
        .map_err(StoreError::doing("read the host bundles for an agent"))?;
    let offer = |(id, scheme, authority, keeps_times, is_late): OfferRow| BundleOffer {
        number: id.unsigned_abs(),
        host: format!("{scheme}://{authority}"),
        keeps_times,
        is_late,
    };
    Ok(rows.into_iter().map(offer).collect())
}

/// Key of the blob of a bundle; none where it is not for this agent.
pub async fn find(store: &Store, agent: AgentId, order: u64) -> Result<Option<String>, StoreError> {
    sqlx::query_scalar(
        "SELECT b.object FROM host_bundles b JOIN hosts h ON h.id = b.host
         WHERE b.handover = $2 AND h.agent = $1",
    )
    .bind(agent.get())
    .bind(bigint(order))
    .fetch_optional(&store.pool())
    .await
    .map_err(StoreError::doing("find a host bundle"))
}

/// Forgets bundles that an agent took; returns the keys of their blobs. Unknown ones are skipped,
/// so that a heartbeat may be repeated.
pub async fn taken(
    store: &Store,
    agent: AgentId,
    orders: &[u64],
) -> Result<Vec<String>, StoreError> {
    let orders: Vec<i64> = orders.iter().map(|order| bigint(*order)).collect();
    sqlx::query_scalar(include_str!("host_bundles/taken.sql"))
        .bind(agent.get())
        .bind(&orders)
        .fetch_all(&store.pool())
        .await
        .map_err(StoreError::doing("forget host bundles that were taken"))
}

/// Those of the blobs that are not the ones of the bundles that were entered for their orders.
pub async fn unnamed(
    store: &Store,
    (orders, objects): (&[u64], &[String]),
) -> Result<Vec<String>, StoreError> {
    if objects.is_empty() {
        return Ok(Vec::new());
    }
    sqlx::query_scalar(
        "SELECT object FROM unnest($1::bigint[], $2::text[]) AS stored (handover, object)
         WHERE NOT EXISTS (SELECT FROM host_bundles b
                           WHERE b.handover = stored.handover AND b.object = stored.object)",
    )
    .bind(orders.iter().map(|order| bigint(*order)).collect::<Vec<_>>())
    .bind(objects)
    .fetch_all(&store.pool())
    .await
    .map_err(StoreError::doing("look for blobs without a host bundle"))
}

/// Forgets up to `limit` bundles that were stored before a moment; returns the keys of their blobs.
pub async fn forget(
    store: &Store,
    before: UnixMillis,
    limit: usize,
) -> Result<Vec<String>, StoreError> {
    sqlx::query_scalar(
        "DELETE FROM host_bundles WHERE handover IN
            (SELECT handover FROM host_bundles WHERE received_at < $1
             ORDER BY received_at LIMIT $2)
         RETURNING object",
    )
    .bind(Moment(before))
    .bind(bigint(limit))
    .fetch_all(&store.pool())
    .await
    .map_err(StoreError::doing("forget old host bundles"))
}
