//! Packages, the data carriers of the papers: results of fetches as a compressed body behind a
//! signed header.
//!
//! ```text
//! "NCPK" 6 | u32 header length | header (JSON) | signature (64 bytes) | body (compressed blocks)
//! block: u32 length | a host's fetches, or discovered URLs, as columns
//! ```
//!
//! The signature covers the header, and the header holds the hash of the body. Nothing is inflated
//! before both are checked, and inflating is bounded by [`crate::limits`]. URLs of fetches are
//! normalised on reading, so that a page is indexed under the URL of its host even if the agent
//! wrote another spelling.

mod block;
mod body;
mod bounds;
mod compression;
mod entry;
mod read;
mod write;

use model::{AgentId, UnixMillis};
use serde::{Deserialize, Serialize};

use crate::{key::KeyError, limits};

pub use block::BlockError;
pub use bounds::ValueError;
pub use entry::encode_entry;
pub use read::{Package, open};
pub use write::{FinishedPackage, build};

const MAGIC: &[u8; 5] = b"NCPK\x06";
const SIGNATURE_BYTES: usize = 64;

/// Name of a package: agent, epoch of the agent's store, and a number that rises by one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PackageName {
    /// Agent that made the package.
    pub agent: AgentId,
    /// Epoch of the agent's store; another one after the agent lost its disk. At most 2^63 - 1.
    pub epoch: u64,
    /// Number within the epoch, from 1, without gaps.
    pub seq: u64,
}

/// Signed header of a package.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    #[serde(flatten)]
    pub name: PackageName,
    /// The agent's clock when the package was closed.
    pub created: UnixMillis,
    /// Number of entries in the body.
    pub entries: u32,
    /// Size of the body once inflated, in bytes.
    pub plain_bytes: u64,
    /// SHA-256 of the compressed body, hexadecimal.
    pub body_sha256: String,
}

/// Reason for which a package cannot be built or is refused.
#[derive(Debug, thiserror::Error)]
pub enum PackageError {
    /// The package is larger than [`crate::limits::PACKAGE_BYTES`].
    #[error("a package of {0} bytes; the limit is {max}", max = limits::PACKAGE_BYTES)]
    TooLarge(usize),
    /// The package does not begin like one of a known version.
    #[error("not a package of a known version")]
    Magic,
    /// The package ends before its header says.
    #[error("the package ends before its header says")]
    Truncated,
    /// The header cannot be parsed.
    #[error("the header cannot be parsed")]
    Header(#[source] serde_json::Error),
    /// The header is longer than [`crate::limits::PACKAGE_HEADER_BYTES`].
    #[error("a header of {0} bytes; the limit is {max}", max = limits::PACKAGE_HEADER_BYTES)]
    HeaderTooLarge(usize),
    /// The header is not signed by the agent's key.
    #[error("the header is not signed by the agent's key")]
    Signature(#[source] KeyError),
    /// The body's hash is not the signed one.
    #[error("the body's hash is not the one in the signed header")]
    BodyHash,
    /// The body cannot be inflated.
    #[error("the body cannot be inflated")]
    Inflate(#[source] std::io::Error),
    /// The body inflates to more than is accepted.
    #[error("the body inflates to more than {0} bytes")]
    Bomb(u64),
    /// The body inflates to more than its header says.
    #[error("the body inflates to more than its header says")]
    LongerThanPromised,
    /// The header promises more entries than [`crate::limits::PACKAGE_ENTRIES`].
    #[error("{0} entries; the limit is {max}", max = limits::PACKAGE_ENTRIES)]
    TooManyEntries(u32),
    /// The body holds another number of entries than the header promises.
    #[error("{found} entries where the header promises {promised}")]
    EntryCount {
        /// Number in the header.
        promised: u32,
        /// Number in the body.
        found: u32,
    },
    /// A block of the body cannot be read.
    #[error("block {number} cannot be read")]
    Block {
        /// Number of the block, from 1.
        number: u32,
        /// What is wrong with it.
        #[source]
        source: BlockError,
    },
    /// A value of an entry is outside its bounds.
    #[error("entry {number} is not acceptable")]
    Value {
        /// Number of the entry, from 1.
        number: u32,
        /// The value and its bound.
        #[source]
        source: ValueError,
    },
    /// A block is longer than [`crate::limits::BLOCK_BYTES`].
    #[error("a block of {0} bytes; the limit is {max}", max = limits::BLOCK_BYTES)]
    BlockTooLarge(usize),
}
