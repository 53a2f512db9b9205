//! People who may sign in, and their signed-in browsers.

mod accounts;

use model::{AccountId, Role, UnixMillis};

use crate::columns::read_word;
use crate::moment::Moment;
use crate::{Store, StoreError};

pub use accounts::{Account, Change, Outcome, change, create, get, list};

/// How long a session lives without use, in milliseconds.
const IDLE_MS: i64 = 12 * 60 * 60 * 1_000;
/// How long a session lives at most, in milliseconds.
const LIFE_MS: i64 = 7 * 24 * 60 * 60 * 1_000;
/// Least time between two updates of a session's last use, in milliseconds.
const TOUCH_MS: i64 = 60 * 1_000;

/// What sign-in needs of an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredAccount {
    pub id: AccountId,
    /// Argon2id in PHC form.
    pub password_hash: String,
    /// What the admin may do.
    pub role: Role,
}

/// The person of this name.
pub async fn find(store: &Store, name: &str) -> Result<Option<StoredAccount>, StoreError> {
    let row: Option<(i64, String, String)> =
        sqlx::query_as("SELECT id, password_hash, role FROM admins WHERE name = $1")
            .bind(name)
            .fetch_optional(&store.pool())
            .await
            .map_err(StoreError::doing("look up an admin"))?;
    let account = |(id, password_hash, role): (i64, String, String)| {
        let role = read_word("admins", "role", id, &role)?;
        Ok(StoredAccount { id: AccountId::new(id), password_hash, role })
    };
    row.map(account).transpose()
}

/// Whether any account exists.
pub async fn any(store: &Store) -> Result<bool, StoreError> {
    sqlx::query_scalar("SELECT EXISTS (SELECT FROM admins)")
        .fetch_one(&store.pool())
        .await
        .map_err(StoreError::doing("look for admins"))
}

/// Enters the first admin; false when there was one already, be it since a moment ago.
pub async fn create_first(
    store: &Store,
    name: &str,
    password_hash: &str,
    now: UnixMillis,
) -> Result<bool, StoreError> {
    let created = sqlx::query(
        "INSERT INTO admins (name, password_hash, created_at)
         SELECT $1, $2, $3 WHERE NOT EXISTS (SELECT FROM admins)
         ON CONFLICT (name) DO NOTHING",
    )
    .bind(name)
    .bind(password_hash)
    .bind(Moment(now))
    .execute(&store.pool())
    .await
    .map_err(StoreError::doing("create the first admin"))?;
    Ok(created.rows_affected() == 1)
}

/// Replaces the hash of a password by one of today's strength; false where the password is another
/// one since it was checked.
pub async fn rehash(
    store: &Store,
    admin: AccountId,
    checked_hash: &str,
    new_hash: &str,
) -> Result<bool, StoreError> {
    let renewed =
        sqlx::query("UPDATE admins SET password_hash = $3 WHERE id = $1 AND password_hash = $2")
            .bind(admin.get())
            .bind(checked_hash)
            .bind(new_hash)
            .execute(&store.pool())
            .await
            .map_err(StoreError::doing("renew a password's hash"))?;
    Ok(renewed.rows_affected() == 1)
}

/// Opens a session under the hash of its cookie, and deletes expired sessions. False where the
/// account has another password now than the one that was checked.
pub async fn open_session(
    store: &Store,
    token_sha256: &[u8],
    account: &StoredAccount,
    now: UnixMillis,
) -> Result<bool, StoreError> {
    let doing = StoreError::doing("open a session");
    sqlx::query("DELETE FROM admin_sessions WHERE seen_at <= $1 OR created_at <= $2")
        .bind(Moment(now.plus_ms(-IDLE_MS)))
        .bind(Moment(now.plus_ms(-LIFE_MS)))
        .execute(&store.pool())
        .await
        .map_err(doing)?;
    let opened = sqlx::query(include_str!("open_session.sql"))
        .bind(token_sha256)
        .bind(account.id.get())
        .bind(Moment(now))
        .bind(account.password_hash.as_str())
        .execute(&store.pool())
        .await
        .map_err(doing)?;
    Ok(opened.rows_affected() == 1)
}

/// The admin of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionUser {
    /// Name with which the person signs in.
    pub name: String,
    /// What the admin may do.
    pub role: Role,
}

/// Why a session is looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionUse {
    /// The person does something: the idle time starts again.
    ByPerson,
    /// An open page sends the request, which does not extend the session.
    InBackground,
}

/// The user of a session, unless it has expired.
pub async fn session(
    store: &Store,
    token_sha256: &[u8],
    session_use: SessionUse,
    now: UnixMillis,
) -> Result<Option<SessionUser>, StoreError> {
    let touched_if_seen_before = match session_use {
        SessionUse::ByPerson => now.plus_ms(-TOUCH_MS),
        SessionUse::InBackground => UnixMillis(0),
    };
    let row: Option<(String, String)> = sqlx::query_as(
        "WITH found AS (
            SELECT s.token_sha256, s.seen_at, a.name, a.role
            FROM admin_sessions s JOIN admins a ON a.id = s.admin
            WHERE s.token_sha256 = $1 AND s.seen_at > $2 AND s.created_at > $3
         ), touched AS (
            UPDATE admin_sessions s SET seen_at = $4
            FROM found f WHERE s.token_sha256 = f.token_sha256 AND f.seen_at < $5
         )
         SELECT name, role FROM found",
    )
    .bind(token_sha256)
    .bind(Moment(now.plus_ms(-IDLE_MS)))
    .bind(Moment(now.plus_ms(-LIFE_MS)))
    .bind(Moment(now))
    .bind(Moment(touched_if_seen_before))
    .fetch_optional(&store.pool())
    .await
    .map_err(StoreError::doing("look up a session"))?;
    let signed_in = |(name, role): (String, String)| {
        let role = read_word("admins", "role", &name, &role)?;
        Ok(SessionUser { name, role })
    };
    row.map(signed_in).transpose()
}

/// Ends a session; one that is over already is fine.
pub async fn close_session(store: &Store, token_sha256: &[u8]) -> Result<(), StoreError> {
    sqlx::query("DELETE FROM admin_sessions WHERE token_sha256 = $1")
        .bind(token_sha256)
        .execute(&store.pool())
        .await
        .map_err(StoreError::doing("close a session"))?;
    Ok(())
}
