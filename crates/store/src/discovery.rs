//! What agents discover in a day, for the quotas on it.

use std::collections::{BTreeMap, BTreeSet};

use model::{AgentId, HostKey, UnixMillis};
use sqlx::postgres::PgRow;
use sqlx::{FromRow, PgConnection, Row as _};

use crate::columns::bigint;
use crate::moment::Moment;
use crate::{Store, StoreError};

/// What an agent, and the hosts that it names, used of the quotas of a day.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Usage {
    /// URLs of the agent that were queued.
    pub urls: u64,
    /// New hosts of the agent.
    pub hosts: u64,
    /// The known ones of the named hosts, with the URLs that were queued for them.
    pub queued: BTreeMap<HostKey, u64>,
}

/// Reads what an agent used on the day on which its package was received (UTC), and what these
/// hosts used today. Packages of a restored backup, of many days, share no quota of an agent.
pub async fn usage(
    store: &Store,
    agent: AgentId,
    received_at: UnixMillis,
    hosts: BTreeSet<HostKey>,
    now: UnixMillis,
) -> Result<Usage, StoreError> {
    let doing = StoreError::doing("read what an agent discovered");
    let used: Option<(i64, i64)> = sqlx::query_as(
        "SELECT urls, hosts FROM discovery_days
         WHERE agent = $1 AND day = ($2 AT TIME ZONE 'UTC')::date",
    )
    .bind(agent.get())
    .bind(Moment(received_at))
    .fetch_optional(&store.pool())
    .await
    .map_err(doing)?;
    let hosts: Vec<HostKey> = hosts.into_iter().collect();
    let queued: Vec<(i64, i32)> = sqlx::query_as(include_str!("discovery/queued.sql"))
        .bind(hosts.iter().map(HostKey::scheme).collect::<Vec<_>>())
        .bind(hosts.iter().map(HostKey::authority).collect::<Vec<_>>())
        .bind(Moment(now))
        .fetch_all(&store.pool())
        .await
        .map_err(doing)?;
    let (used_urls, used_hosts) = used.unwrap_or_default();
    let named = |(position, count): (i64, i32)| {
        let host = usize::try_from(position - 1).ok().and_then(|index| hosts.get(index))?;
        Some((host.clone(), u64::from(count.unsigned_abs())))
    };
    Ok(Usage {
        urls: used_urls.unsigned_abs(),
        hosts: used_hosts.unsigned_abs(),
        queued: queued.into_iter().filter_map(named).collect(),
    })
}

/// Counts URLs that a quota refused.
pub async fn count_refused(
    store: &Store,
    agent: AgentId,
    refused: u64,
    now: UnixMillis,
) -> Result<(), StoreError> {
    let doing = StoreError::doing("count refused URLs");
    let mut connection = store.pool().acquire().await.map_err(doing)?;
    add(&mut connection, agent, [0, 0, refused], now).await
}

/// Counts URLs and hosts that were queued.
pub(crate) async fn count_queued(
    db: &mut PgConnection,
    agent: AgentId,
    urls: u64,
    hosts: u64,
    now: UnixMillis,
) -> Result<(), StoreError> {
    add(db, agent, [urls, hosts, 0], now).await
}

async fn add(
    db: &mut PgConnection,
    agent: AgentId,
    [urls, hosts, refused]: [u64; 3],
    now: UnixMillis,
) -> Result<(), StoreError> {
    sqlx::query(include_str!("discovery/add.sql"))
        .bind(agent.get())
        .bind(Moment(now))
        .bind(bigint(urls))
        .bind(bigint(hosts))
        .bind(bigint(refused))
        .execute(db)
        .await
        .map_err(StoreError::doing("count what an agent discovered"))?;
    Ok(())
}

/// What an agent discovered on one day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiscoveryDay {
    /// Day (UTC), as `2018-10-13`.
    pub day: String,
    /// URLs that were queued.
    pub urls: i64,
    /// Hosts that were new.
    pub hosts: i64,
    /// URLs that a quota refused.
    pub refused: i64,
}

impl FromRow<'_, PgRow> for DiscoveryDay {
    fn from_row(row: &PgRow) -> sqlx::Result<Self> {
        Ok(Self {
            day: row.try_get("day")?,
            urls: row.try_get("urls")?,
            hosts: row.try_get("hosts")?,
            refused: row.try_get("refused")?,
        })
    }
}

/// The days of an agent, the newest first.
pub async fn days(store: &Store, agent: AgentId) -> Result<Vec<DiscoveryDay>, StoreError> {
    sqlx::query_as(
        "SELECT to_char(day, 'YYYY-MM-DD') AS day, urls, hosts, refused FROM discovery_days
         WHERE agent = $1 ORDER BY discovery_days.day DESC LIMIT 31",
    )
    .bind(agent.get())
    .fetch_all(&store.pool())
    .await
    .map_err(StoreError::doing("list what an agent discovered"))
}
