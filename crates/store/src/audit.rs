//! Audit log: changes made by people and by the coordinator on its own.

use std::fmt::Display;

use model::UnixMillis;
use serde_json::Value;
use sqlx::PgConnection;

use crate::bounded_count::{BoundedCount, COUNT_MAX};
use crate::moment::Moment;
use crate::{Store, StoreError};

/// A change made by a person or by the coordinator.
#[derive(Debug, Clone)]
pub struct Entry<'a> {
    /// The admin's name, or `coordinator`.
    pub actor: &'a str,
    /// What was done: noun and verb, e.g. `policy.change`.
    pub action: &'a str,
    /// To what, e.g. `agt_12`.
    pub subject: String,
    /// Before and after where it matters.
    pub detail: Value,
}

impl<'a> Entry<'a> {
    /// An entry with the subject as it is displayed.
    pub fn new(actor: &'a str, action: &'a str, subject: impl Display, detail: Value) -> Self {
        Self { actor, action, subject: subject.to_string(), detail }
    }
}

/// Writes an entry. It is never changed nor removed.
pub async fn write(store: &Store, entry: &Entry<'_>, now: UnixMillis) -> Result<(), StoreError> {
    let doing = StoreError::doing("write into the audit");
    let mut connection = store.pool().acquire().await.map_err(doing)?;
    write_in(&mut connection, entry, now).await
}

/// [`write`] as part of a larger transaction.
pub(crate) async fn write_in(
    db: &mut PgConnection,
    entry: &Entry<'_>,
    now: UnixMillis,
) -> Result<(), StoreError> {
    sqlx::query(
        "INSERT INTO audit (at, actor, action, subject, detail) VALUES ($1, $2, $3, $4, $5)",
    )
    .bind(Moment(now))
    .bind(entry.actor)
    .bind(entry.action)
    .bind(&entry.subject)
    .bind(&entry.detail)
    .execute(db)
    .await
    .map_err(StoreError::doing("write into the audit"))?;
    Ok(())
}

/// An entry as it was written.
#[derive(Debug, Clone, PartialEq)]
pub struct AuditEntry {
    /// Its number; rises.
    pub id: i64,
    /// When it was written.
    pub at: UnixMillis,
    /// Name of the admin, or coordinator.
    pub actor: String,
    /// What was done.
    pub action: String,
    /// What was changed, such as `agt_12`.
    pub subject: String,
    /// Before and after where it matters.
    pub detail: Value,
}

type Row = (i64, Moment, String, String, String, Value);

/// Which entries to list; by default all.
#[derive(Debug, Clone, Copy, Default)]
pub struct Filter<'a> {
    /// Name of the person, or `coordinator`.
    pub actor: Option<&'a str>,
    /// Noun and verb, or the noun alone.
    pub action: Option<&'a str>,
    /// What was changed.
    pub subject: Option<&'a str>,
    /// Not before this time.
    pub from: Option<UnixMillis>,
    /// Before this time.
    pub until: Option<UnixMillis>,
}

/// Entries with a number below `before` that fit the filter, the newest first.
pub async fn list(
    store: &Store,
    filter: &Filter<'_>,
    before: i64,
    limit: i64,
) -> Result<Vec<AuditEntry>, StoreError> {
    let rows: Vec<Row> = sqlx::query_as(include_str!("audit/list.sql"))
        .bind(before)
        .bind(filter.actor)
        .bind(filter.action)
        .bind(filter.subject)
        .bind(filter.from.map(Moment))
        .bind(filter.until.map(Moment))
        .bind(limit)
        .fetch_all(&store.pool())
        .await
        .map_err(StoreError::doing("list the audit"))?;
    let entry = |(id, at, actor, action, subject, detail): Row| AuditEntry {
        id,
        at: at.0,
        actor,
        action,
        subject,
        detail,
    };
    Ok(rows.into_iter().map(entry).collect())
}

/// How many entries fit a filter, by action, most first; only the newest [`COUNT_MAX`] are counted.
pub async fn count_by_action(
    store: &Store,
    filter: &Filter<'_>,
) -> Result<(BoundedCount, Vec<(String, u64)>), StoreError> {
    let rows: Vec<(String, i64)> = sqlx::query_as(include_str!("audit/count.sql"))
        .bind(filter.actor)
        .bind(filter.action)
        .bind(filter.subject)
        .bind(filter.from.map(Moment))
        .bind(filter.until.map(Moment))
        .bind(COUNT_MAX + 1)
        .fetch_all(&store.pool())
        .await
        .map_err(StoreError::doing("count the audit"))?;
    let total = BoundedCount::of_limited(rows.iter().map(|(_, count)| count).sum());
    Ok((total, rows.into_iter().map(|(action, count)| (action, count.unsigned_abs())).collect()))
}
