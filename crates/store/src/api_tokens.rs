//! Tokens with which scripts use the API in the name of an account.

use model::{AccountId, ApiTokenId, Role, UnixMillis};
use serde_json::json;
use sqlx::postgres::{PgExecutor, PgRow};
use sqlx::{FromRow, Row as _};

use crate::audit::{self, Entry};
use crate::columns::{ReadColumn as _, read_word};
use crate::moment::Moment;
use crate::{Store, StoreError};

/// Least time between two updates of a token's last use, in milliseconds.
const TOUCH_MS: i64 = 60 * 1_000;

/// A token to be kept.
#[derive(Debug, Clone, Copy)]
pub struct New<'a> {
    /// SHA-256 of the token.
    pub sha256: &'a [u8],
    /// What it is for.
    pub name: &'a str,
    /// Role of the caller that presents it.
    pub scope: Role,
    /// Whose it is.
    pub account: AccountId,
    /// Worthless from then on; none for never.
    pub expires_at: Option<UnixMillis>,
}

/// Keeps a token.
pub async fn create(
    store: &Store,
    new: &New<'_>,
    actor: &str,
    now: UnixMillis,
) -> Result<ApiTokenId, StoreError> {
    let doing = StoreError::doing("make an API token");
    let mut tx = store.begin().await.map_err(doing)?;
    let id = insert(&mut *tx, new, now).await?;
    let detail = json!({ "name": new.name, "scope": new.scope, "account": new.account });
    let entry = Entry::new(actor, "api_token.create", id, detail);
    audit::write_in(&mut tx, &entry, now).await?;
    tx.commit().await.map_err(doing)?;
    Ok(id)
}

/// Keeps the short-lived token of a command on the coordinator's machine. The audit log has what
/// the command does, not that it came.
pub async fn open_for_command(
    store: &Store,
    new: &New<'_>,
    now: UnixMillis,
) -> Result<(), StoreError> {
    insert(&store.pool(), new, now).await?;
    Ok(())
}

async fn insert<'db>(
    db: impl PgExecutor<'db>,
    new: &New<'_>,
    now: UnixMillis,
) -> Result<ApiTokenId, StoreError> {
    let id: i64 = sqlx::query_scalar(
        "INSERT INTO api_tokens (token_sha256, name, scope, account, created_at, expires_at)
         VALUES ($1, $2, $3, $4, $5, $6) RETURNING id",
    )
    .bind(new.sha256)
    .bind(new.name)
    .bind(new.scope.as_str())
    .bind(new.account.get())
    .bind(Moment(now))
    .bind(new.expires_at.map(Moment))
    .fetch_one(db)
    .await
    .map_err(StoreError::doing("keep an API token"))?;
    Ok(ApiTokenId::new(id))
}

/// Removes the token of a command, and those of commands that were killed.
pub async fn close_for_command(store: &Store, sha256: &[u8]) -> Result<(), StoreError> {
    sqlx::query(
        "DELETE FROM api_tokens o USING api_tokens t
         WHERE t.token_sha256 = $1
           AND (o.id = t.id OR (o.name = t.name AND o.expires_at < t.created_at))",
    )
    .bind(sha256)
    .execute(&store.pool())
    .await
    .map_err(StoreError::doing("close the token of a command"))?;
    Ok(())
}

/// A token as it may be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiToken {
    /// Identifier of the token.
    pub id: ApiTokenId,
    /// What it is for.
    pub name: String,
    /// Role of the caller that presents it.
    pub scope: Role,
    /// Whose it is.
    pub account: AccountId,
    /// Name of that account.
    pub account_name: String,
    /// When it was made.
    pub created_at: UnixMillis,
    /// Worthless from then on; none for never.
    pub expires_at: Option<UnixMillis>,
    /// Its last use.
    pub used_at: Option<UnixMillis>,
}

impl FromRow<'_, PgRow> for ApiToken {
    fn from_row(row: &PgRow) -> sqlx::Result<Self> {
        let id: i64 = row.try_get("id")?;
        Ok(Self {
            id: ApiTokenId::new(id),
            name: row.try_get("name")?,
            scope: read_word("api_tokens", "scope", id, row.try_get("scope")?)?,
            account: row.read("account")?,
            account_name: row.try_get("account_name")?,
            created_at: row.read("created_at")?,
            expires_at: row.read("expires_at")?,
            used_at: row.read("used_at")?,
        })
    }
}

/// Tokens with a number below `before`, the newest first; of the account `owner`, if one is given.
pub async fn list(
    store: &Store,
    owner: Option<&str>,
    before: i64,
    limit: i64,
) -> Result<Vec<ApiToken>, StoreError> {
    sqlx::query_as(
        "SELECT t.id, t.name, t.scope, t.account, a.name AS account_name, t.created_at,
                t.expires_at, t.used_at
         FROM api_tokens t JOIN admins a ON a.id = t.account
         WHERE t.id < $1 AND ($3::text IS NULL OR a.name = $3) ORDER BY t.id DESC LIMIT $2",
    )
    .bind(before)
    .bind(limit)
    .bind(owner)
    .fetch_all(&store.pool())
    .await
    .map_err(StoreError::doing("list the API tokens"))
}

/// Whoever presents a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenUser {
    /// Name of the account.
    pub account: String,
    /// What the token is for.
    pub token: String,
    /// What the token permits: its scope, at most the account's role.
    pub role: Role,
}

/// The owner of the token with this hash, unless it has expired; its use is noted.
pub async fn user(
    store: &Store,
    sha256: &[u8],
    now: UnixMillis,
) -> Result<Option<TokenUser>, StoreError> {
    let row: Option<(i64, String, String, String, String)> =
        sqlx::query_as(include_str!("api_tokens/use.sql"))
            .bind(sha256)
            .bind(Moment(now))
            .bind(Moment(now.plus_ms(-TOUCH_MS)))
            .fetch_optional(&store.pool())
            .await
            .map_err(StoreError::doing("look up an API token"))?;
    let user = |(id, token, scope, account, role): (i64, String, String, String, String)| {
        let scope: Role = read_word("api_tokens", "scope", id, &scope)?;
        let role: Role = read_word("admins", "role", &account, &role)?;
        let is_admin = scope == Role::Admin && role == Role::Admin;
        let role = if is_admin { Role::Admin } else { Role::Viewer };
        Ok(TokenUser { account, token, role })
    };
    row.map(user).transpose()
}

/// Removes a token; false if there is none. With an owner only if it is that account's.
pub async fn revoke(
    store: &Store,
    id: ApiTokenId,
    owner: Option<&str>,
    actor: &str,
    now: UnixMillis,
) -> Result<bool, StoreError> {
    let doing = StoreError::doing("revoke an API token");
    let mut tx = store.begin().await.map_err(doing)?;
    let name: Option<String> = sqlx::query_scalar(
        "DELETE FROM api_tokens t USING admins a
         WHERE t.id = $1 AND a.id = t.account AND ($2::text IS NULL OR a.name = $2)
         RETURNING t.name",
    )
    .bind(id.get())
    .bind(owner)
    .fetch_optional(&mut *tx)
    .await
    .map_err(doing)?;
    let Some(name) = name else { return Ok(false) };
    let entry = Entry::new(actor, "api_token.revoke", id, json!({ "name": name }));
    audit::write_in(&mut tx, &entry, now).await?;
    tx.commit().await.map_err(doing)?;
    Ok(true)
}
