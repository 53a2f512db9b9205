//! Passwords: hashed with argon2id at OWASP's strength, checked where blocking is allowed.

use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher as _, PasswordVerifier as _};
use argon2::{Algorithm, Argon2, Params, Version};

/// 19 MiB, two passes, one lane: OWASP's recommendation for argon2id.
const MEMORY_KIB: u32 = 19_456;
const PASSES: u32 = 2;
const LANES: u32 = 1;

/// Why a password could not be worked on.
#[derive(Debug, thiserror::Error)]
pub enum PasswordError {
    /// The parameters or the memory are not to be had.
    #[error("cannot hash a password: {0}")]
    Hash(argon2::password_hash::Error),
    /// The work was broken off.
    #[error("the work on a password was broken off")]
    Broken(#[from] tokio::task::JoinError),
}

/// Whether a password was right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Check {
    /// It was wrong.
    Wrong,
    /// It was right.
    Right,
    /// It was right, and its hash is of another strength than today's: this one should take its
    /// place.
    Renew(String),
}

/// The hash of `password` in PHC form, with a salt of its own. About 30 ms of work and 19 MiB.
pub async fn hash(password: String) -> Result<String, PasswordError> {
    tokio::task::spawn_blocking(move || hash_now(&password)).await?
}

/// Whether `password` has this hash. Without a hash the same work is done for nothing, so that the
/// time does not tell whether a name is known.
pub async fn check(password: String, hash: Option<String>) -> Result<Check, PasswordError> {
    tokio::task::spawn_blocking(move || match hash {
        Some(hash) => check_now(&password, &hash),
        None => hash_now(&password).map(|_| Check::Wrong),
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
    let today = Params::try_from(&parsed).is_ok_and(|params| {
        (params.m_cost(), params.t_cost(), params.p_cost()) == (MEMORY_KIB, PASSES, LANES)
    });
    if today { Ok(Check::Right) } else { hash_now(password).map(Check::Renew) }
}

fn hasher() -> Result<Argon2<'static>, PasswordError> {
    let params = Params::new(MEMORY_KIB, PASSES, LANES, None)
        .map_err(|error| PasswordError::Hash(error.into()))?;
    Ok(Argon2::new(Algorithm::Argon2id, Version::V0x13, params))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn right_and_wrong_are_told_apart() {
        let hashed = hash("secret".into()).await.unwrap();
        assert!(hashed.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{hashed}");
        assert_eq!(check("secret".into(), Some(hashed.clone())).await.unwrap(), Check::Right);
        assert_eq!(check("Secret".into(), Some(hashed)).await.unwrap(), Check::Wrong);
        assert_eq!(check("secret".into(), None).await.unwrap(), Check::Wrong);
    }

    #[tokio::test]
    async fn a_weaker_hash_is_renewed() {
        let weak =
            Argon2::new(Algorithm::Argon2id, Version::V0x13, Params::new(8, 1, 1, None).unwrap());
        let weak = weak.hash_password(b"secret").unwrap().to_string();
        let Check::Renew(renewed) = check("secret".into(), Some(weak)).await.unwrap() else {
            panic!("renewed")
        };
        assert_eq!(check("secret".into(), Some(renewed)).await.unwrap(), Check::Right);
    }

    #[tokio::test]
    async fn a_hash_that_is_none_is_an_error() {
        assert!(check("secret".into(), Some("nonsense".into())).await.is_err());
    }
}
