//! One-time tokens with which owners enrol their agents. They are used up in
//! [`crate::agents::enrol`].

use model::{AgentId, UnixMillis};
use serde_json::json;

use crate::moment::Moment;
use crate::{Store, StoreError};

/// A token to be kept.
#[derive(Debug, Clone, Copy)]
pub struct New<'a> {
    /// SHA-256 of the token.
    pub sha256: &'a [u8],
    /// The person or machine that it is for, as the admin wrote it.
    pub name: &'a str,
    /// The admin who made it.
    pub created_by: &'a str,
    /// Worthless from then on.
    pub expires_at: UnixMillis,
}

/// Keeps a token, with an entry in the audit, and gives its number.
pub async fn create(store: &Store, new: &New<'_>, now: UnixMillis) -> Result<i64, StoreError> {
    let doing = StoreError::doing("make a join token");
    let id: i64 = sqlx::query_scalar(
        "WITH made AS (
            INSERT INTO join_tokens (token_sha256, name, created_by, created_at, expires_at)
            VALUES ($1, $2, $3, $4, $5) RETURNING id
         ), noted AS (
            INSERT INTO audit (at, actor, action, subject, detail)
            SELECT $4, $3, 'join_token.create', 'tok_' || id, $6 FROM made
         )
         SELECT id FROM made",
    )
    .bind(new.sha256)
    .bind(new.name)
    .bind(new.created_by)
    .bind(Moment(now))
    .bind(Moment(new.expires_at))
    .bind(json!({ "name": new.name, "expires_at_ms": new.expires_at }))
    .fetch_one(store.pool())
    .await
    .map_err(doing)?;
    Ok(id)
}

/// A token as it may be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JoinToken {
    /// Primary key of the row.
    pub id: i64,
    /// The person or machine that it is for, as the admin wrote it.
    pub name: String,
    /// The admin who made it.
    pub created_by: String,
    /// When it was made.
    pub created_at: UnixMillis,
    /// When it is worthless.
    pub expires_at: UnixMillis,
    /// When it was used.
    pub used_at: Option<UnixMillis>,
    /// The agent that used it, and its name.
    pub used_by: Option<(AgentId, String)>,
}

type Row = (i64, String, String, Moment, Moment, Option<Moment>, Option<i64>, Option<String>);

/// Tokens with a number below `before`, the newest first.
pub async fn list(store: &Store, before: i64, limit: i64) -> Result<Vec<JoinToken>, StoreError> {
    let rows: Vec<Row> = sqlx::query_as(include_str!("join_tokens/list.sql"))
        .bind(before)
        .bind(limit)
        .fetch_all(store.pool())
        .await
        .map_err(StoreError::doing("list the join tokens"))?;
    Ok(rows.into_iter().map(token).collect())
}

fn token(row: Row) -> JoinToken {
    let (id, name, created_by, created_at, expires_at, used_at, used_by, agent) = row;
    JoinToken {
        id,
        name,
        created_by,
        created_at: created_at.0,
        expires_at: expires_at.0,
        used_at: used_at.map(|at| at.0),
        used_by: used_by.map(AgentId::new).zip(agent),
    }
}
