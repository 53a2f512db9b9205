//! Packages: the papers' data carriers. What an agent fetched, as gzip-compressed JSON lines behind
//! a signed header.
//!
//! ```text
//! "NCPK" 1 | u32 header length | header (JSON) | signature (64 bytes) | body (gzip of JSON lines)
//! ```
//!
//! The signature covers the header, the header holds the hash of the body: nothing is inflated
//! before both are checked, and inflating is bounded by [`crate::limits`].

mod read;
mod write;

use serde::{Deserialize, Serialize};

use crate::key::KeyError;
use model::{AgentId, UnixMillis};

pub use read::{Package, open};
pub use write::{PackageBuilder, Written};

const MAGIC: &[u8; 5] = b"NCPK\x01";
const SIGNATURE_BYTES: usize = 64;

/// Names a package: an agent's store (epoch) and a number that rises by one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PackageName {
    /// The agent.
    pub agent: AgentId,
    /// The agent's store; drawn anew when an agent lost its disk. At most 2^63 - 1.
    pub epoch: u64,
    /// From 1, by one.
    pub seq: u64,
}

/// The signed part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// Which package.
    #[serde(flatten)]
    pub name: PackageName,
    /// The agent's clock when it was closed.
    pub created: UnixMillis,
    /// Lines in the body.
    pub entries: u32,
    /// Size of the body once inflated, in bytes.
    pub plain_bytes: u64,
    /// SHA-256 of the compressed body, hexadecimal.
    pub body_sha256: String,
}

/// Why a package can't be taken.
#[derive(Debug, thiserror::Error)]
pub enum PackageError {
    /// Larger than [`crate::limits::PACKAGE_BYTES`].
    #[error("package of {0} bytes, more than {max} are not taken", max = crate::limits::PACKAGE_BYTES)]
    TooLarge(usize),
    /// Does not begin like a package of a known version.
    #[error("not a package of a known version")]
    Magic,
    /// Ends before its header says.
    #[error("the package ends before its header says")]
    Truncated,
    /// The header is not what it should be.
    #[error("the header can't be read")]
    Header(#[source] serde_json::Error),
    /// The header is longer than [`crate::limits::PACKAGE_HEADER_BYTES`].
    #[error("a header of {0} bytes, more than {max} are not taken", max = crate::limits::PACKAGE_HEADER_BYTES)]
    HeaderTooLarge(usize),
    /// Not signed by the agent.
    #[error("the header is not signed by the agent's key")]
    Signature(#[source] KeyError),
    /// The body is not the one that was signed.
    #[error("the body's hash is not the one in the signed header")]
    BodyHash,
    /// The body does not inflate.
    #[error("the body can't be inflated")]
    Inflate(#[source] std::io::Error),
    /// The body inflates to more than it says or than is taken.
    #[error("the body inflates to more than {0} bytes")]
    Bomb(u64),
    /// The header promises more entries than [`crate::limits::PACKAGE_ENTRIES`].
    #[error("{0} entries, more than {max} are not taken", max = crate::limits::PACKAGE_ENTRIES)]
    TooManyEntries(u32),
    /// Other entries than the header promises.
    #[error("{found} entries where the header promises {promised}")]
    EntryCount {
        /// By the header.
        promised: u32,
        /// In the body.
        found: u32,
    },
    /// A line that is not an entry.
    #[error("entry {number} can't be read")]
    Entry {
        /// Line of the body, from 1.
        number: u32,
        /// What is wrong with it.
        #[source]
        source: serde_json::Error,
    },
    /// An entry longer than [`crate::limits::ENTRY_BYTES`].
    #[error("an entry of {0} bytes, more than {max} are not taken", max = crate::limits::ENTRY_BYTES)]
    EntryTooLarge(usize),
}
