//! The coordinator's key, by which agents recognise the coordinator with which they have enrolled.
//! It is made at the first start and kept in Postgres, so that all coordinators of one database
//! share it.

use data_encoding::BASE64;
use protocol::key::CoordinatorKey;
use serde_json::Value;
use store::{Store, StoreError, settings};

/// Name of the setting that holds the key's seed in base64.
const SETTING: &str = "coordinator_key";

/// The key cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub enum CoordinatorKeyError {
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The setting holds something else. It is not replaced, because no agent would accept a new
    /// key.
    #[error(
        "the setting {SETTING} in the database is not what nearcrawl writes there; restore that \
         row from a backup, or delete it and all rows of the table regions, and let every agent \
         enrol again"
    )]
    Damaged,
}

/// Loads the key; makes it where there is none.
pub async fn load(store: &Store) -> Result<CoordinatorKey, CoordinatorKeyError> {
    let proposal = Value::String(BASE64.encode(&rand::random::<[u8; 32]>()));
    let kept = settings::get_or_set(store, SETTING, &proposal).await?;
    let seed = kept.as_str().and_then(|text| BASE64.decode(text.as_bytes()).ok());
    let seed = seed.and_then(|seed| seed.try_into().ok()).ok_or(CoordinatorKeyError::Damaged)?;
    Ok(CoordinatorKey::from_seed(seed))
}
