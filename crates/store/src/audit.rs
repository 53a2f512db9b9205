//! What people changed, for good.

use protocol::UnixMillis;
use serde_json::Value;

use crate::moment::Moment;
use crate::{Store, StoreError};

/// One change.
#[derive(Debug, Clone, Copy)]
pub struct Entry<'a> {
    /// The admin's name, or `coordinator`.
    pub actor: &'a str,
    /// What was done: noun and verb, e.g. `policy.change`.
    pub action: &'a str,
    /// To what, e.g. `agt_12`.
    pub subject: &'a str,
    /// Before and after where it matters.
    pub detail: &'a Value,
}

/// Writes an entry. It is never changed nor removed.
pub async fn write(store: &Store, entry: &Entry<'_>, now: UnixMillis) -> Result<(), StoreError> {
    sqlx::query("INSERT INTO audit (at, actor, action, subject, detail) VALUES ($1, $2, $3, $4, $5)")
        .bind(Moment(now))
        .bind(entry.actor)
        .bind(entry.action)
        .bind(entry.subject)
        .bind(entry.detail)
        .execute(store.pool())
        .await
        .map_err(StoreError::doing("write into the audit"))?;
    Ok(())
}
