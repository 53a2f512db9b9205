//! The first person who may sign in.

use data_encoding::BASE32_NOPAD;
use model::UnixMillis;
use serde_json::json;
use store::{Store, StoreError, admins, audit};

use crate::http::admin::password::{self, Check, PasswordError};

/// Name of the first admin.
pub const NAME: &str = "admin";

/// Why the first admin could not be seen to.
#[derive(Debug, thiserror::Error)]
pub enum FirstAdminError {
    /// The database did not do it.
    #[error("cannot see to the first admin")]
    Store(#[from] StoreError),
    /// The password could not be hashed.
    #[error("cannot see to the first admin's password")]
    Password(#[from] PasswordError),
}

/// Sees to it that somebody can sign in: creates [`NAME`] when nobody can.
///
/// With a `wish` (from the environment) that is the admin's password, now and at every later start,
/// so that a lost one can be replaced. Without, a password is made of `random` for a new admin and
/// given back, to be printed this once.
pub async fn ensure(
    store: &Store,
    wish: Option<&str>,
    random: [u8; 15],
    now: UnixMillis,
) -> Result<Option<String>, FirstAdminError> {
    if admins::any(store).await? {
        if let Some(wish) = wish {
            keep_in_step(store, wish, now).await?;
        }
        return Ok(None);
    }
    let made = readable(random);
    let hash = password::hash(wish.unwrap_or(&made).to_owned()).await?;
    let created = admins::create_first(store, NAME, &hash, now).await?;
    if created {
        note(store, "admin.create", now).await?;
    }
    // Another coordinator may have been first; its password counts.
    Ok(Some(made).filter(|_| created && wish.is_none()))
}

async fn keep_in_step(store: &Store, wish: &str, now: UnixMillis) -> Result<(), FirstAdminError> {
    let Some(account) = admins::find(store, NAME).await? else { return Ok(()) };
    if password::check(wish.to_owned(), Some(account.password_hash)).await? == Check::Wrong {
        admins::set_password(store, account.id, &password::hash(wish.to_owned()).await?).await?;
        note(store, "admin.password", now).await?;
    }
    Ok(())
}

async fn note(store: &Store, action: &str, now: UnixMillis) -> Result<(), StoreError> {
    let entry = audit::Entry { actor: "coordinator", action, subject: NAME, detail: &json!({}) };
    audit::write(store, &entry, now).await
}

/// 120 bits in groups that can be read out and typed.
fn readable(random: [u8; 15]) -> String {
    let letters = BASE32_NOPAD.encode(&random).to_ascii_lowercase();
    let groups: Vec<&str> =
        letters.as_bytes().chunks(6).filter_map(|group| std::str::from_utf8(group).ok()).collect();
    groups.join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_made_password_is_readable() {
        assert_eq!(readable([0; 15]), "aaaaaa-aaaaaa-aaaaaa-aaaaaa");
        assert_ne!(readable([1; 15]), readable([2; 15]));
    }
}
