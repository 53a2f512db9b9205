//! Identity of agents, of the coordinator and of releases: Ed25519 keys (RFC 8032). An agent's key
//! is made on the agent and never leaves it; the coordinators of one database share a key; the
//! operator keeps the release key off the coordinator.
//!
//! Every signature covers a domain tag first, so that a signature made for one purpose cannot be
//! used for another.

use std::fmt;

use data_encoding::BASE64URL_NOPAD;
use ed25519_dalek::{Signature as RawSignature, Signer as _, SigningKey, VerifyingKey};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

/// Purpose of a signature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Enrolment with a join token.
    Enrol,
    /// Answer to an enrolment.
    EnrolResponse,
    /// Opening a session.
    Session,
    /// Answer to the opening of a session.
    SessionResponse,
    /// Authorship of a package.
    Package,
    /// Roster of a region.
    Roster,
    /// Changes of a region's delegations since its roster.
    RosterDelta,
    /// Message between the parties of a region.
    RegionMessage,
    /// Programs that agents may run.
    Release,
}

impl Purpose {
    const fn tag(self) -> &'static [u8] {
        match self {
            Self::Enrol => b"nearcrawl enrol v2\0",
            Self::EnrolResponse => b"nearcrawl enrol response v1\0",
            Self::Session => b"nearcrawl session v1\0",
            Self::SessionResponse => b"nearcrawl session response v1\0",
            Self::Package => b"nearcrawl package v1\0",
            Self::Roster => b"nearcrawl roster v1\0",
            Self::RosterDelta => b"nearcrawl roster delta v1\0",
            Self::RegionMessage => b"nearcrawl region message v1\0",
            Self::Release => b"nearcrawl release v1\0",
        }
    }

    fn message(self, body: &[u8]) -> Vec<u8> {
        [self.tag(), body].concat()
    }
}

/// A key or signature that cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// The text is not base64url without padding, or has another length.
    #[error("not {expected} bytes in base64url without padding")]
    Encoding {
        /// Expected number of bytes.
        expected: usize,
    },
    /// The bytes are no point of the curve, or a weak one that accepts forged signatures.
    #[error("not a usable Ed25519 public key")]
    Point,
    /// The signature was not made by this key for this message.
    #[error("the signature does not fit the key and the message")]
    Mismatch,
}

macro_rules! secret_key {
    ($(#[$comment:meta])* $name:ident) => {
        $(#[$comment])*
        pub struct $name(SigningKey);

        impl $name {
            /// The key made from 32 bytes of a cryptographic random source.
            pub fn from_seed(seed: [u8; 32]) -> Self {
                Self(SigningKey::from_bytes(&seed))
            }

            /// The public key of this secret key.
            pub fn public(&self) -> PublicKey {
                PublicKey(self.0.verifying_key())
            }

            /// Signs `body` for one purpose.
            pub fn sign(&self, purpose: Purpose, body: &[u8]) -> Signature {
                Signature(self.0.sign(&purpose.message(body)))
            }
        }
    };
}

secret_key! {
    /// Secret key of an agent. It is neither `Debug` nor `Clone` nor serialisable, so that it only
    /// ever moves between memory and its own file.
    AgentKey
}
secret_key! {
    /// Secret key of the coordinators of one database. Like an agent's key it is neither `Debug`
    /// nor serialisable.
    CoordinatorKey
}
secret_key! {
    /// Secret key of the operator that signs releases, kept off the coordinator.
    ReleaseKey
}

/// Public key of one of these; in JSON its 32 bytes as base64url.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PublicKey(VerifyingKey);

impl PublicKey {
    /// The key in these 32 bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, KeyError> {
        let bytes: [u8; 32] = bytes.try_into().map_err(|_| KeyError::Encoding { expected: 32 })?;
        let key = VerifyingKey::from_bytes(&bytes).map_err(|_| KeyError::Point)?;
        if key.is_weak() { Err(KeyError::Point) } else { Ok(Self(key)) }
    }

    pub fn to_bytes(&self) -> [u8; 32] {
        self.0.to_bytes()
    }

    /// Checks that `signature` was made with the secret key for this `purpose` and `body`.
    pub fn verify(
        &self,
        purpose: Purpose,
        body: &[u8],
        signature: &Signature,
    ) -> Result<(), KeyError> {
        self.0.verify_strict(&purpose.message(body), &signature.0).map_err(|_| KeyError::Mismatch)
    }
}

/// Signature; in JSON its 64 bytes as base64url.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Signature(RawSignature);

impl Signature {
    /// The signature in these 64 bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, KeyError> {
        let bytes: [u8; 64] = bytes.try_into().map_err(|_| KeyError::Encoding { expected: 64 })?;
        Ok(Self(RawSignature::from_bytes(&bytes)))
    }

    pub fn to_bytes(&self) -> [u8; 64] {
        self.0.to_bytes()
    }
}

macro_rules! as_base64 {
    ($name:ident, $length:literal) => {
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&BASE64URL_NOPAD.encode(&self.to_bytes()))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self)
            }
        }

        impl std::str::FromStr for $name {
            type Err = KeyError;

            fn from_str(text: &str) -> Result<Self, KeyError> {
                let bytes = BASE64URL_NOPAD
                    .decode(text.as_bytes())
                    .map_err(|_| KeyError::Encoding { expected: $length })?;
                Self::from_bytes(&bytes)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                std::borrow::Cow::<'de, str>::deserialize(deserializer)?
                    .parse()
                    .map_err(D::Error::custom)
            }
        }
    };
}

as_base64!(PublicKey, 32);
as_base64!(Signature, 64);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_holds_for_one_key_purpose_and_message() {
        let key = AgentKey::from_seed([7; 32]);
        let signature = key.sign(Purpose::Session, b"nonce");
        assert_eq!(key.public().verify(Purpose::Session, b"nonce", &signature), Ok(()));
        assert_eq!(
            key.public().verify(Purpose::Package, b"nonce", &signature),
            Err(KeyError::Mismatch)
        );
        assert_eq!(
            key.public().verify(Purpose::Session, b"other", &signature),
            Err(KeyError::Mismatch)
        );
        let other = AgentKey::from_seed([8; 32]).public();
        assert_eq!(other.verify(Purpose::Session, b"nonce", &signature), Err(KeyError::Mismatch));
    }

    #[test]
    fn text_forms_round_trip_and_invalid_ones_are_refused() {
        let public = AgentKey::from_seed([1; 32]).public();
        assert_eq!(public.to_string().parse(), Ok(public));
        assert_eq!("short".parse::<PublicKey>(), Err(KeyError::Encoding { expected: 32 }));
        assert_eq!(PublicKey::from_bytes(&[0; 32]).unwrap_err(), KeyError::Point);
    }
}
