//! Join tokens: what an operator gives to an owner. A token holds a secret, which lets one agent
//! enrol, and the fingerprint of the coordinator's key, by which the agent knows that it enrols
//! with the coordinator of that operator.
//!
//! ```text
//! nc-<secret, 32 characters>-<fingerprint, 26 characters>
//! ```
//!
//! Both parts are base32 (RFC 4648) in lower case, so that a token can be read out on the phone.

use std::{fmt, str::FromStr};

use data_encoding::BASE32_NOPAD;
use sha2::{Digest as _, Sha256};

use crate::key::PublicKey;

/// Start of every token.
const PREFIX: &str = "nc";
/// Length of the secret, in bytes.
const SECRET_BYTES: usize = 20;
/// Length of a fingerprint, in bytes. Nobody can make a second key with the same 128 bits.
const FINGERPRINT_BYTES: usize = 16;

/// The first half of the SHA-256 of a coordinator's public key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fingerprint([u8; FINGERPRINT_BYTES]);

impl Fingerprint {
    /// The fingerprint of this key.
    pub fn of(key: &PublicKey) -> Self {
        let digest: [u8; 32] = Sha256::digest(key.to_bytes()).into();
        let mut half = [0; FINGERPRINT_BYTES];
        half.copy_from_slice(&digest[..FINGERPRINT_BYTES]);
        Self(half)
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&encode(&self.0))
    }
}

/// A text that is not a join token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum JoinTokenError {
    /// The second part is missing.
    #[error(
        "the join token does not name its coordinator's key: it was cut off; copy all of it, or \
         ask the operator for a new one"
    )]
    NoFingerprint,
    /// Not a join token at all.
    #[error(
        "the join token is not readable: it has the form nc-…-…, with 32 and 26 letters and \
         digits; copy all of it, or ask the operator for a new one"
    )]
    Syntax,
}

/// One-time token with which one agent enrols.
#[derive(Clone, PartialEq, Eq)]
pub struct JoinToken {
    text: String,
    coordinator: Fingerprint,
}

impl JoinToken {
    /// The token with this secret, 20 random bytes, of the coordinator with this key.
    pub fn new(secret: [u8; SECRET_BYTES], coordinator: &PublicKey) -> Self {
        let coordinator = Fingerprint::of(coordinator);
        Self { text: format!("{PREFIX}-{}-{coordinator}", encode(&secret)), coordinator }
    }

    /// The token as it is given to owners and sent to the coordinator.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Fingerprint of the key of the coordinator that made it.
    pub fn coordinator(&self) -> Fingerprint {
        self.coordinator
    }
}

impl FromStr for JoinToken {
    type Err = JoinTokenError;

    fn from_str(text: &str) -> Result<Self, JoinTokenError> {
        let text = text.trim().to_ascii_lowercase();
        let mut parts = text.split('-');
        let secret = parts.next().filter(|prefix| *prefix == PREFIX).and_then(|_| parts.next());
        secret.and_then(decode::<SECRET_BYTES>).ok_or(JoinTokenError::Syntax)?;
        let fingerprint = parts.next().ok_or(JoinTokenError::NoFingerprint)?;
        let coordinator = decode(fingerprint).map(Fingerprint).ok_or(JoinTokenError::Syntax)?;
        if parts.next().is_some() {
            return Err(JoinTokenError::Syntax);
        }
        Ok(Self { text, coordinator })
    }
}

fn encode(bytes: &[u8]) -> String {
    BASE32_NOPAD.encode(bytes).to_ascii_lowercase()
}

fn decode<const N: usize>(text: &str) -> Option<[u8; N]> {
    BASE32_NOPAD.decode(text.to_ascii_uppercase().as_bytes()).ok()?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::CoordinatorKey;

    #[test]
    fn a_token_carries_the_fingerprint_of_its_coordinator() {
        let key = CoordinatorKey::from_seed([1; 32]).public();
        let token = JoinToken::new([2; 20], &key);
        assert_eq!(token.as_str().len(), 62);
        let read: JoinToken = format!(" {}\n", token.as_str().to_uppercase()).parse().unwrap();
        assert!(read == token, "blanks and case do not count");
        assert_eq!(read.coordinator(), Fingerprint::of(&key));
        let other = CoordinatorKey::from_seed([3; 32]).public();
        assert_ne!(read.coordinator(), Fingerprint::of(&other));
    }

    #[test]
    fn other_texts_are_refused() {
        let key = CoordinatorKey::from_seed([1; 32]).public();
        let token = JoinToken::new([2; 20], &key);
        let text = token.as_str();
        let refused = |text: &str| text.parse::<JoinToken>().err();
        let (old, _) = text.rsplit_once('-').unwrap();
        assert_eq!(refused(old), Some(JoinTokenError::NoFingerprint));
        for wrong in ["", "nc", "nc-", "wrong", &text[..61], &text[1..], &format!("{text}-a")] {
            assert_eq!(refused(wrong), Some(JoinTokenError::Syntax), "{wrong}");
        }
    }
}
