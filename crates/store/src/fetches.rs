//! What became of fetches: the last ones of each host, and errors by day, kind and agent.

use model::{AgentId, ErrorKind, HostId, UnixMillis};
use serde_json::{Value, json};
use sqlx::postgres::PgRow;
use sqlx::{FromRow, PgConnection, QueryBuilder, Row as _};

use crate::columns::{ReadColumn as _, bigint, read_word};
use crate::host_tally::{ErrorTally, HostTally, RECENT, RecentFetch, Silence};
use crate::line::one_line;
use crate::moment::Moment;
use crate::{Store, StoreError};

/// Days for which errors are kept, as [`crate::partitions`] keeps those of hosts.
pub const ERROR_DAYS: i32 = 7;

/// Keeps the fetches of a package, after they were counted in `hosts`.
pub(crate) async fn keep_in(
    db: &mut PgConnection,
    agent: AgentId,
    hosts: &[HostTally],
    now: UnixMillis,
) -> Result<(), StoreError> {
    keep_recent(db, agent, hosts).await?;
    let errors: Vec<(&HostTally, &ErrorTally)> =
        hosts.iter().flat_map(|host| host.errors.iter().map(move |error| (host, error))).collect();
    if errors.is_empty() {
        return Ok(());
    }
    sqlx::query(include_str!("fetches/count_errors.sql"))
        .bind(errors.iter().map(|(host, _)| host.scheme.as_str()).collect::<Vec<_>>())
        .bind(errors.iter().map(|(host, _)| host.authority.as_str()).collect::<Vec<_>>())
        .bind(errors.iter().map(|(_, error)| error.kind.as_str()).collect::<Vec<_>>())
        .bind(errors.iter().map(|(_, error)| bigint(error.errors)).collect::<Vec<_>>())
        .bind(errors.iter().map(|(_, error)| error.last.url.as_str()).collect::<Vec<_>>())
        .bind(errors.iter().map(|(_, error)| one_line(&error.last.detail)).collect::<Vec<_>>())
        .bind(errors.iter().map(|(_, error)| Moment(error.last.at)).collect::<Vec<_>>())
        .bind(agent.get())
        .bind(Moment(now))
        .execute(db)
        .await
        .map_err(StoreError::doing("count the errors of a package"))?;
    Ok(())
}

async fn keep_recent(
    db: &mut PgConnection,
    agent: AgentId,
    hosts: &[HostTally],
) -> Result<(), StoreError> {
    let hosts: Vec<&HostTally> = hosts.iter().filter(|host| !host.recent.is_empty()).collect();
    let newest = |host: &&HostTally| host.recent.first().map(|fetch| Moment(fetch.at));
    let errors = |host: &&HostTally| {
        bigint(host.errors.iter().map(|error| error.errors).fold(0, u64::saturating_add))
    };
    let silent = hosts.iter().map(|host| host.silence);
    let silences =
        |of: fn(Silence) -> Moment| silent.clone().map(|one| one.map(of)).collect::<Vec<_>>();
    let fetches = silent.clone().map(|one| one.map_or(0, |one| i64::from(one.fetches)));
    let fetches: Vec<i64> = fetches.collect();
    sqlx::query(include_str!("fetches/keep_recent.sql"))
        .bind(hosts.iter().map(|host| host.scheme.as_str()).collect::<Vec<_>>())
        .bind(hosts.iter().map(|host| host.authority.as_str()).collect::<Vec<_>>())
        .bind(hosts.iter().map(newest).collect::<Vec<_>>())
        .bind(hosts.iter().map(errors).collect::<Vec<_>>())
        .bind(hosts.iter().map(|host| bigint(host.disallowed)).collect::<Vec<_>>())
        .bind(hosts.iter().map(|host| encoded(&host.recent)).collect::<Vec<_>>())
        .bind(agent.get())
        .bind(format!("$[0 to {}]", RECENT - 1))
        .bind(hosts.iter().map(|host| host.answered_at.map(Moment)).collect::<Vec<_>>())
        .bind(silences(|silence| Moment(silence.since)))
        .bind(silences(|silence| Moment(silence.until)))
        .bind(fetches)
        .execute(db)
        .await
        .map_err(StoreError::doing("keep the last fetches of hosts"))?;
    Ok(())
}

/// Fetches as the column has them.
fn encoded(recent: &[RecentFetch]) -> Value {
    let kept = recent.iter().take(RECENT);
    kept.map(|fetch| json!(RecentFetch { detail: one_line(&fetch.detail), ..fetch.clone() }))
        .collect()
}

/// Deletes the errors of agents on days that are not kept. Returns the number of rows.
pub async fn forget(store: &Store, now: UnixMillis) -> Result<u64, StoreError> {
    let deleted =
        sqlx::query("DELETE FROM agent_error_days WHERE day <= ($1 AT TIME ZONE 'UTC')::date - $2")
            .bind(Moment(now))
            .bind(ERROR_DAYS)
            .execute(&store.pool())
            .await
            .map_err(StoreError::doing("forget the errors of old days"))?;
    Ok(deleted.rows_affected())
}

/// Errors of one agent and kind on one day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentErrors {
    /// The agent that reported them.
    pub agent: AgentId,
    /// Cause that they share.
    pub kind: ErrorKind,
    /// Number of errors.
    pub errors: u64,
}

/// Errors of a day (UTC) that began `days_ago` days before today, by agent and kind.
pub async fn of_day(
    store: &Store,
    days_ago: i32,
    now: UnixMillis,
) -> Result<Vec<AgentErrors>, StoreError> {
    let rows: Vec<(i64, String, i64)> = sqlx::query_as(
        "SELECT agent, kind, errors FROM agent_error_days
         WHERE day = ($1 AT TIME ZONE 'UTC')::date - $2",
    )
    .bind(Moment(now))
    .bind(days_ago)
    .fetch_all(&store.pool())
    .await
    .map_err(StoreError::doing("read the errors of a day"))?;
    rows.into_iter()
        .map(|(agent, kind, errors)| {
            Ok(AgentErrors {
                agent: AgentId::new(agent),
                kind: read_word("agent_error_days", "kind", agent, &kind)?,
                errors: errors.unsigned_abs(),
            })
        })
        .collect()
}

/// Which errors of hosts to list.
#[derive(Debug, Clone, Copy, Default)]
pub struct ErrorFilter {
    /// How many days before today (UTC).
    pub days_ago: i32,
    /// Only this kind.
    pub kind: Option<ErrorKind>,
    /// Only those that this agent reported last.
    pub agent: Option<AgentId>,
}

/// Errors of a host of one kind on one day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostErrors {
    /// Host on which they happened.
    pub host: HostId,
    /// Its scheme and authority.
    pub name: String,
    /// Days from then to today (UTC).
    pub days_ago: u32,
    /// Cause that they share.
    pub kind: ErrorKind,
    /// The agent that reported last, with its name.
    pub agent: (AgentId, String),
    /// Number of errors.
    pub errors: u64,
    /// URL of the last one.
    pub url: String,
    /// Its reason or HTTP status.
    pub detail: String,
    /// Time of the last one.
    pub at: UnixMillis,
}

impl FromRow<'_, PgRow> for HostErrors {
    fn from_row(row: &PgRow) -> sqlx::Result<Self> {
        let host: i64 = row.try_get("host")?;
        Ok(Self {
            host: HostId::new(host),
            name: row.try_get("name")?,
            days_ago: row.read("days_ago")?,
            kind: read_word("error_days", "kind", host, row.try_get("kind")?)?,
            agent: (row.read("agent")?, row.try_get("agent_name")?),
            errors: row.read("errors")?,
            url: row.try_get("url")?,
            detail: row.try_get("detail")?,
            at: row.read("at")?,
        })
    }
}

const ERRORS: &str = include_str!("fetches/errors.sql");

/// The hosts with most errors, at most `limit`.
pub async fn most_errors(
    store: &Store,
    filter: &ErrorFilter,
    limit: i64,
    now: UnixMillis,
) -> Result<Vec<HostErrors>, StoreError> {
    let mut query = QueryBuilder::new(ERRORS);
    query.push_bind(Moment(now)).push(" AT TIME ZONE 'UTC')::date AS today) t WHERE e.day = (");
    query.push_bind(Moment(now)).push(" AT TIME ZONE 'UTC')::date - ").push_bind(filter.days_ago);
    if let Some(kind) = filter.kind {
        query.push(" AND e.kind = ").push_bind(kind.as_str());
    }
    if let Some(agent) = filter.agent {
        query.push(" AND e.agent = ").push_bind(agent.get());
    }
    query.push(" ORDER BY e.errors DESC, e.host DESC LIMIT ").push_bind(limit);
    read(query, store).await
}

/// Errors of one host on the days that are kept, the newest first.
pub async fn errors_of_host(
    store: &Store,
    host: HostId,
    now: UnixMillis,
) -> Result<Vec<HostErrors>, StoreError> {
    let mut query = QueryBuilder::new(ERRORS);
    query.push_bind(Moment(now)).push(" AT TIME ZONE 'UTC')::date AS today) t WHERE e.host = ");
    query.push_bind(host.get()).push(" ORDER BY e.day DESC, e.errors DESC");
    read(query, store).await
}

async fn read(
    mut query: QueryBuilder<sqlx::Postgres>,
    store: &Store,
) -> Result<Vec<HostErrors>, StoreError> {
    query
        .build_query_as()
        .fetch_all(&store.pool())
        .await
        .map_err(StoreError::doing("list the errors of hosts"))
}
