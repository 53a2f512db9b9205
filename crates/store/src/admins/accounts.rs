//! Administration of accounts. Each change writes its entry of the audit log in the same
//! transaction.

use model::{AccountId, Role, UnixMillis};
use serde_json::{Value, json};
use sqlx::postgres::PgRow;
use sqlx::{FromRow, PgConnection, Row as _};

use crate::audit::{self, Entry};
use crate::columns::{ReadColumn as _, read_word};
use crate::moment::Moment;
use crate::{Store, StoreError};

/// An account without its password.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// Identifier of the account.
    pub id: AccountId,
    /// Name with which its person signs in.
    pub name: String,
    /// What its person may do.
    pub role: Role,
    /// When it was created.
    pub created_at: UnixMillis,
    /// Last use of a session that is still open; none without one.
    pub seen_at: Option<UnixMillis>,
}

impl FromRow<'_, PgRow> for Account {
    fn from_row(row: &PgRow) -> sqlx::Result<Self> {
        let id: i64 = row.try_get("id")?;
        Ok(Self {
            id: AccountId::new(id),
            name: row.try_get("name")?,
            role: read_word("admins", "role", id, row.try_get("role")?)?,
            created_at: row.read("created_at")?,
            seen_at: row.read("seen_at")?,
        })
    }
}

/// Accounts with a number below `before`, the newest first.
pub async fn list(store: &Store, before: i64, limit: i64) -> Result<Vec<Account>, StoreError> {
    sqlx::query_as(
        "SELECT id, name, role, created_at,
                (SELECT max(seen_at) FROM admin_sessions s WHERE s.admin = admins.id) AS seen_at
         FROM admins WHERE id < $1 ORDER BY id DESC LIMIT $2",
    )
    .bind(before)
    .bind(limit)
    .fetch_all(&store.pool())
    .await
    .map_err(StoreError::doing("list the accounts"))
}

/// The account with this identifier.
pub async fn get(store: &Store, id: AccountId) -> Result<Option<Account>, StoreError> {
    sqlx::query_as(
        "SELECT id, name, role, created_at,
                (SELECT max(seen_at) FROM admin_sessions s WHERE s.admin = admins.id) AS seen_at
         FROM admins WHERE id = $1",
    )
    .bind(id.get())
    .fetch_optional(&store.pool())
    .await
    .map_err(StoreError::doing("read an account"))
}

/// Creates an account; none if the name is taken.
pub async fn create(
    store: &Store,
    name: &str,
    role: Role,
    password_hash: &str,
    actor: &str,
    now: UnixMillis,
) -> Result<Option<AccountId>, StoreError> {
    let doing = StoreError::doing("create an account");
    let mut tx = store.begin().await.map_err(doing)?;
    let id: Option<i64> = sqlx::query_scalar(
        "INSERT INTO admins (name, password_hash, role, created_at) VALUES ($1, $2, $3, $4)
         ON CONFLICT (name) DO NOTHING RETURNING id",
    )
    .bind(name)
    .bind(password_hash)
    .bind(role.as_str())
    .bind(Moment(now))
    .fetch_optional(&mut *tx)
    .await
    .map_err(doing)?;
    let Some(id) = id.map(AccountId::new) else { return Ok(None) };
    let detail = json!({ "name": name, "role": role.as_str() });
    audit::write_in(&mut tx, &Entry::new(actor, "account.create", id, detail), now).await?;
    tx.commit().await.map_err(doing)?;
    Ok(Some(id))
}

/// A change of an account.
#[derive(Debug, Clone, Copy)]
pub enum Change<'a> {
    /// Gives it another role.
    Role(Role),
    /// Sets the hash of a new password, and ends its sessions but the one with this hash. If an
    /// admin sets it for another person, the API tokens of the account are revoked as well, because
    /// it may have been taken over.
    Password { hash: &'a str, kept_session: Option<&'a [u8]>, revokes_tokens: bool },
    /// Removes it with its sessions.
    Remove,
}

impl<'a> Change<'a> {
    /// A new password that ends all sessions and revokes all API tokens.
    pub const fn reset_password(hash: &'a str) -> Self {
        Self::Password { hash, kept_session: None, revokes_tokens: true }
    }
}

/// What came of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The account is as wanted now.
    Done,
    /// There is no such account.
    Unknown,
    /// It is the only one that may change things, and would no longer be one.
    LastAdmin,
}

/// Changes an account.
pub async fn change(
    store: &Store,
    id: AccountId,
    change: Change<'_>,
    actor: &str,
    now: UnixMillis,
) -> Result<Outcome, StoreError> {
    let doing = StoreError::doing("change an account");
    let mut tx = store.begin().await.map_err(doing)?;
    // All admins are locked, so that two of them cannot remove each other at the same time.
    let admins: Vec<i64> =
        sqlx::query_scalar("SELECT id FROM admins WHERE role = 'admin' ORDER BY id FOR UPDATE")
            .fetch_all(&mut *tx)
            .await
            .map_err(doing)?;
    let found: Option<(String, String)> =
        sqlx::query_as("SELECT name, role FROM admins WHERE id = $1 FOR UPDATE")
            .bind(id.get())
            .fetch_optional(&mut *tx)
            .await
            .map_err(doing)?;
    let Some((name, role)) = found else { return Ok(Outcome::Unknown) };
    let before: Role = read_word("admins", "role", id, &role)?;
    let ends_admin = matches!(change, Change::Remove | Change::Role(Role::Viewer));
    if ends_admin && admins == [id.get()] {
        return Ok(Outcome::LastAdmin);
    }
    if matches!(change, Change::Role(after) if after == before) {
        return Ok(Outcome::Done);
    }
    write_change(&mut tx, id, change).await.map_err(doing)?;
    let (action, detail) = description(change, &name, before);
    audit::write_in(&mut tx, &Entry::new(actor, action, id, detail), now).await?;
    tx.commit().await.map_err(doing)?;
    Ok(Outcome::Done)
}

async fn write_change(
    db: &mut PgConnection,
    id: AccountId,
    change: Change<'_>,
) -> Result<(), sqlx::Error> {
    match change {
        Change::Role(role) => {
            let update = sqlx::query("UPDATE admins SET role = $2 WHERE id = $1");
            update.bind(id.get()).bind(role.as_str()).execute(db).await?;
        }
        Change::Password { hash, kept_session, revokes_tokens } => {
            let update = sqlx::query("UPDATE admins SET password_hash = $2 WHERE id = $1");
            update.bind(id.get()).bind(hash).execute(&mut *db).await?;
            let end = sqlx::query(
                "DELETE FROM admin_sessions
                 WHERE admin = $1 AND token_sha256 IS DISTINCT FROM $2",
            );
            end.bind(id.get()).bind(kept_session).execute(&mut *db).await?;
            if revokes_tokens {
                let end = sqlx::query("DELETE FROM api_tokens WHERE account = $1");
                end.bind(id.get()).execute(db).await?;
            }
        }
        Change::Remove => {
            let delete = sqlx::query("DELETE FROM admins WHERE id = $1");
            delete.bind(id.get()).execute(db).await?;
        }
    }
    Ok(())
}

fn description(change: Change<'_>, name: &str, before: Role) -> (&'static str, Value) {
    let before = before.as_str();
    match change {
        Change::Role(after) => {
            ("account.role", json!({ "name": name, "before": before, "after": after.as_str() }))
        }
        Change::Password { revokes_tokens, .. } => {
            let detail = json!({ "name": name, "ends_api_tokens": revokes_tokens });
            ("account.password", detail)
        }
        Change::Remove => ("account.remove", json!({ "name": name, "role": before })),
    }
}
