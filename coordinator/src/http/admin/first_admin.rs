//! The first admin account, created when there is no admin yet.

use data_encoding::BASE32_NOPAD;
use model::{Role, UnixMillis};
use serde_json::json;
use store::admins::{self, Change};
use store::audit::{self, Entry};
use store::{Store, StoreError};

use crate::http::admin::password::{self, Check, PasswordError};

/// Name with which the first admin signs in.
pub const NAME: &str = "admin";

/// Who changes the account in the audit log.
const ACTOR: &str = "coordinator";

/// Why the first admin could not be created or updated.
#[derive(Debug, thiserror::Error)]
pub enum FirstAdminError {
    /// The database refused or did not answer.
    #[error("cannot store the first admin")]
    Store(#[from] StoreError),
    /// The password could not be hashed.
    #[error("cannot hash the first admin's password")]
    Password(#[from] PasswordError),
}

/// Creates the admin [`NAME`] when there is no admin yet.
///
/// A `configured` password (from the environment) is set now and at every later start, so that a
/// lost password can be replaced. Without one, a new admin gets a password made of `random`, which
/// is returned to be printed once.
pub async fn ensure(
    store: &Store,
    configured: Option<&str>,
    random: [u8; 15],
    now: UnixMillis,
) -> Result<Option<String>, FirstAdminError> {
    if admins::any(store).await? {
        if let Some(password) = configured {
            set_password(store, password, now).await?;
        }
        return Ok(None);
    }
    let generated = readable(random);
    let hash = password::hash(configured.unwrap_or(&generated).to_owned(), ()).await?;
    let created = admins::create_first(store, NAME, &hash, now).await?;
    if created {
        let entry = Entry::new(ACTOR, "admin.create", NAME, json!({}));
        audit::write(store, &entry, now).await?;
    }
    // Another coordinator may have created the admin first; then its password is valid.
    Ok(Some(generated).filter(|_| created && configured.is_none()))
}

async fn set_password(
    store: &Store,
    password: &str,
    now: UnixMillis,
) -> Result<(), FirstAdminError> {
    let Some(account) = admins::find(store, NAME).await? else {
        tracing::warn!(
            "the configured password is not used: there are accounts, but none with the name \
             {NAME}; `nearcrawl-coordinator admin password NAME` sets that of another one"
        );
        return Ok(());
    };
    if account.role != Role::Admin {
        tracing::warn!("the account {NAME}, which gets the configured password, is a viewer");
    }
    let check = password::check(password.to_owned(), Some(account.password_hash), ()).await?;
    if check == Check::Wrong {
        let hash = password::hash(password.to_owned(), ()).await?;
        let change = Change::reset_password(&hash);
        admins::change(store, account.id, change, ACTOR, now).await?;
    }
    Ok(())
}

/// Encodes 120 random bits in groups that can be read aloud and typed.
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
    fn a_generated_password_is_readable() {
        assert_eq!(readable([0; 15]), "aaaaaa-aaaaaa-aaaaaa-aaaaaa");
        assert_ne!(readable([1; 15]), readable([2; 15]));
    }
}
