//! Settings of this installation that the coordinators share.

use model::UnixMillis;
use serde_json::Value;

use crate::open::connect;
use crate::{Address, Store, StoreError, audit};

/// The setting under this name; `proposal` becomes it when there is none yet. Several coordinators
/// get the same answer.
pub async fn get_or_set(store: &Store, name: &str, proposal: &Value) -> Result<Value, StoreError> {
    sqlx::query("INSERT INTO settings (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING")
        .bind(name)
        .bind(proposal)
        .execute(&store.pool())
        .await
        .map_err(StoreError::doing("write a setting"))?;
    sqlx::query_scalar("SELECT value FROM settings WHERE name = $1")
        .bind(name)
        .fetch_one(&store.pool())
        .await
        .map_err(StoreError::doing("read a setting"))
}

/// The setting under this name; none while there is none.
pub async fn get(store: &Store, name: &str) -> Result<Option<Value>, StoreError> {
    sqlx::query_scalar("SELECT value FROM settings WHERE name = $1")
        .bind(name)
        .fetch_optional(&store.pool())
        .await
        .map_err(StoreError::doing("read a setting"))
}

/// [`get`] from a database that may not have been used yet. Changes nothing there.
pub async fn get_unopened(address: &Address, name: &str) -> Result<Option<Value>, StoreError> {
    let doing = StoreError::doing("read a setting");
    let pool = connect(address, 1).await?;
    let has_settings: bool = sqlx::query_scalar("SELECT to_regclass('settings') IS NOT NULL")
        .fetch_one(&pool)
        .await
        .map_err(doing)?;
    if !has_settings {
        return Ok(None);
    }
    sqlx::query_scalar("SELECT value FROM settings WHERE name = $1")
        .bind(name)
        .fetch_optional(&pool)
        .await
        .map_err(doing)
}

/// Stores this as the setting under this name.
pub async fn set(store: &Store, name: &str, value: &Value) -> Result<(), StoreError> {
    sqlx::query(include_str!("settings/set.sql"))
        .bind(name)
        .bind(value)
        .execute(&store.pool())
        .await
        .map_err(StoreError::doing("write a setting"))?;
    Ok(())
}

/// Removes the setting under this name, with an entry in the audit log.
pub async fn remove(
    store: &Store,
    name: &str,
    entry: &audit::Entry<'_>,
    now: UnixMillis,
) -> Result<(), StoreError> {
    let doing = StoreError::doing("remove a setting");
    let mut tx = store.begin().await.map_err(doing)?;
    sqlx::query("DELETE FROM settings WHERE name = $1")
        .bind(name)
        .execute(&mut *tx)
        .await
        .map_err(doing)?;
    audit::write_in(&mut tx, entry, now).await?;
    tx.commit().await.map_err(doing)
}
