//! One-time tokens with which owners enrol their agents. They are used up in
//! [`crate::agents::enrol`].

use model::{AgentId, JoinTokenId, UnixMillis};
use serde_json::json;
use sqlx::postgres::PgRow;
use sqlx::{FromRow, PgConnection, Row as _};

use crate::audit::{self, Entry};
use crate::columns::ReadColumn as _;
use crate::moment::Moment;
use crate::{Store, StoreError};

/// A token to be kept.
#[derive(Debug, Clone, Copy)]
pub struct New<'a> {
    /// SHA-256 of the token.
    pub sha256: &'a [u8],
    /// The person or machine that it is for, as the admin wrote it.
    pub name: &'a str,
    /// The admin who made it, or who accepted the request that it comes from.
    pub created_by: &'a str,
    /// Worthless from then on.
    pub expires_at: UnixMillis,
}

/// Keeps a token, with an entry in the audit, and gives its number.
pub async fn create(
    store: &Store,
    new: &New<'_>,
    now: UnixMillis,
) -> Result<JoinTokenId, StoreError> {
    let doing = StoreError::doing("make a join token");
    let mut tx = store.begin().await.map_err(doing)?;
    let id = create_in(&mut tx, new, now).await?;
    let detail = json!({ "name": new.name, "expires_at_ms": new.expires_at });
    let entry = Entry::new(new.created_by, "join_token.create", id, detail);
    audit::write_in(&mut tx, &entry, now).await?;
    tx.commit().await.map_err(doing)?;
    Ok(id)
}

/// [`create`] as part of a larger transaction, which writes an entry of the audit log itself.
pub(crate) async fn create_in(
    db: &mut PgConnection,
    new: &New<'_>,
    now: UnixMillis,
) -> Result<JoinTokenId, StoreError> {
    let id: i64 = sqlx::query_scalar(
        "INSERT INTO join_tokens (token_sha256, name, created_by, created_at, expires_at)
         VALUES ($1, $2, $3, $4, $5) RETURNING id",
    )
    .bind(new.sha256)
    .bind(new.name)
    .bind(new.created_by)
    .bind(Moment(now))
    .bind(Moment(new.expires_at))
    .fetch_one(&mut *db)
    .await
    .map_err(StoreError::doing("make a join token"))?;
    Ok(JoinTokenId::new(id))
}

/// A token as it may be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JoinToken {
    /// Identifier of the token.
    pub id: JoinTokenId,
    /// The person or machine that it is for, as the admin wrote it.
    pub name: String,
    /// The admin who made it, or who accepted the request that it comes from.
    pub created_by: String,
    /// When it was made.
    pub created_at: UnixMillis,
    /// When it is worthless.
    pub expires_at: UnixMillis,
    /// When it was used.
    pub used_at: Option<UnixMillis>,
    /// The agent that used it, and its name.
    pub used_by: Option<(AgentId, String)>,
    /// When it was revoked, and by which admin.
    pub revocation: Option<(UnixMillis, String)>,
}

impl FromRow<'_, PgRow> for JoinToken {
    fn from_row(row: &PgRow) -> sqlx::Result<Self> {
        Ok(Self {
            id: JoinTokenId::new(row.try_get("id")?),
            name: row.try_get("name")?,
            created_by: row.try_get("created_by")?,
            created_at: row.read("created_at")?,
            expires_at: row.read("expires_at")?,
            used_at: row.read("used_at")?,
            used_by: row.read::<Option<_>>("used_by")?.zip(row.try_get("agent_name")?),
            revocation: row.read::<Option<_>>("revoked_at")?.zip(row.try_get("revoked_by")?),
        })
    }
}

/// Tokens with a number below `before`, the newest first.
pub async fn list(store: &Store, before: i64, limit: i64) -> Result<Vec<JoinToken>, StoreError> {
    sqlx::query_as(include_str!("join_tokens/list.sql"))
        .bind(before)
        .bind(limit)
        .fetch_all(&store.pool())
        .await
        .map_err(StoreError::doing("list the join tokens"))
}

/// What became of a revocation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Revocation {
    /// The token is worthless, now or since before.
    Done,
    /// There is no such token.
    Unknown,
    /// An agent has enrolled with it: revoke that agent.
    UsedBy(AgentId),
}

/// Makes an unused token worthless.
pub async fn revoke(
    store: &Store,
    id: JoinTokenId,
    actor: &str,
    now: UnixMillis,
) -> Result<Revocation, StoreError> {
    let doing = StoreError::doing("revoke a join token");
    let mut tx = store.begin().await.map_err(doing)?;
    let found: Option<(String, Option<i64>, Option<Moment>)> = sqlx::query_as(
        "SELECT name, used_by, revoked_at FROM join_tokens WHERE id = $1 FOR UPDATE",
    )
    .bind(id.get())
    .fetch_optional(&mut *tx)
    .await
    .map_err(doing)?;
    let (name, revoked_at) = match found {
        None => return Ok(Revocation::Unknown),
        Some((_, Some(agent), _)) => return Ok(Revocation::UsedBy(AgentId::new(agent))),
        Some((name, None, revoked_at)) => (name, revoked_at),
    };
    if revoked_at.is_some() {
        return Ok(Revocation::Done);
    }
    sqlx::query("UPDATE join_tokens SET revoked_at = $2, revoked_by = $3 WHERE id = $1")
        .bind(id.get())
        .bind(Moment(now))
        .bind(actor)
        .execute(&mut *tx)
        .await
        .map_err(doing)?;
    let entry = Entry::new(actor, "join_token.revoke", id, json!({ "name": name }));
    audit::write_in(&mut tx, &entry, now).await?;
    tx.commit().await.map_err(doing)?;
    Ok(Revocation::Done)
}
