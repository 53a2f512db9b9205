//! Passwords, hashed with argon2id at the strength that OWASP recommends.

use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher as _, PasswordVerifier as _};
use argon2::{Algorithm, Argon2, Params, Version};

/// Least length of a new password, in characters.
pub const PASSWORD_MIN: usize = 12;
/// Greatest length of a password; it bounds the work of argon2. No password of a person or a
/// password manager is longer.
pub const PASSWORD_MAX: usize = 256;

/// OWASP's recommendation for argon2id: 19 MiB, two passes, one lane.
const MEMORY_KIB: u32 = 19_456;
const PASSES: u32 = 2;
const LANES: u32 = 1;

/// Why a password could not be hashed or checked.
#[derive(Debug, thiserror::Error)]
pub enum PasswordError {
    /// The parameters are invalid or the memory is not available.
    #[error("cannot hash a password: {0}")]
    Hash(argon2::password_hash::Error),
    /// The hashing thread panicked or was cancelled.
    #[error("hashing a password was cancelled")]
    Broken(#[from] tokio::task::JoinError),
}

/// Outcome of a check of a password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Check {
    /// The password does not match the hash.
    Wrong,
    /// The password matches the hash.
    Right,
    /// The password matches, but its hash has other parameters than today's: this new hash should
    /// replace it.
    Renew(String),
}

/// Hashes `password` into PHC form with a random salt. Takes about 30 ms and 19 MiB.
///
/// `permit` allows the work and is kept until the work has ended, even if the caller has stopped
/// waiting.
pub async fn hash(password: String, permit: impl Send + 'static) -> Result<String, PasswordError> {
    tokio::task::spawn_blocking(move || {
        let _permit = permit;
        hash_now(&password)
    })
    .await?
}

/// Checks `password` against `hash`. Without a hash the same work is done, so that the time does
/// not reveal whether a name is known. `permit` is kept as in [`hash`].
pub async fn check(
    password: String,
    hash: Option<String>,
    permit: impl Send + 'static,
) -> Result<Check, PasswordError> {
    tokio::task::spawn_blocking(move || {
        let _permit = permit;
        match hash {
            Some(hash) => check_now(&password, &hash),
            None => hash_now(&password).map(|_| Check::Wrong),
        }
    })
    .await?
}

fn hash_now(password: &str) -> Result<String, PasswordError> {
    let hash = hasher()?.hash_password(password.as_bytes()).map_err(PasswordError::Hash)?;
    Ok(hash.to_string())
}

fn check_now(password: &str, hash: &str) -> Result<Check, PasswordError> {
    let parsed = PasswordHash::new(hash).map_err(|error| PasswordError::Hash(error.into()))?;
    if hasher()?.verify_password(password.as_bytes(), &parsed).is_err() {
        return Ok(Check::Wrong);
    }
    let current = Params::try_from(&parsed).is_ok_and(|params| {
        (params.m_cost(), params.t_cost(), params.p_cost()) == (MEMORY_KIB, PASSES, LANES)
    });
    if current { Ok(Check::Right) } else { hash_now(password).map(Check::Renew) }
}

fn hasher() -> Result<Argon2<'static>, PasswordError> {
    let params = Params::new(MEMORY_KIB, PASSES, LANES, None)
        .map_err(|error| PasswordError::Hash(error.into()))?;
    Ok(Argon2::new(Algorithm::Argon2id, Version::V0x13, params))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use tokio::sync::Semaphore;
    use tokio::time::timeout;

    use super::*;

    #[tokio::test]
    async fn right_and_wrong_passwords_are_distinguished() {
        let hashed = hash("secret".into(), ()).await.unwrap();
        assert!(hashed.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{hashed}");
        assert_eq!(check("secret".into(), Some(hashed.clone()), ()).await.unwrap(), Check::Right);
        assert_eq!(check("Secret".into(), Some(hashed), ()).await.unwrap(), Check::Wrong);
        assert_eq!(check("secret".into(), None, ()).await.unwrap(), Check::Wrong);
    }

    #[tokio::test]
    async fn a_weaker_hash_is_renewed() {
        let weak =
            Argon2::new(Algorithm::Argon2id, Version::V0x13, Params::new(8, 1, 1, None).unwrap());
        let weak = weak.hash_password(b"secret").unwrap().to_string();
        let Check::Renew(renewed) = check("secret".into(), Some(weak), ()).await.unwrap() else {
            panic!("renewed")
        };
        assert_eq!(check("secret".into(), Some(renewed), ()).await.unwrap(), Check::Right);
    }

    #[tokio::test]
    async fn an_invalid_hash_is_an_error() {
        assert!(check("secret".into(), Some("nonsense".into()), ()).await.is_err());
    }

    #[tokio::test]
    async fn a_permit_is_kept_until_the_work_has_ended() {
        let permits = Arc::new(Semaphore::new(1));
        let permit = Arc::clone(&permits).try_acquire_owned().unwrap();
        // The caller hangs up once the work has begun.
        let hashing = hash("secret".into(), permit);
        assert!(timeout(Duration::ZERO, hashing).await.is_err());
        assert_eq!(permits.available_permits(), 0);
        drop(permits.acquire().await.unwrap());
    }
}
