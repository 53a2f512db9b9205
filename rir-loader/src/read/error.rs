//! Why a set of files was refused.

use std::io;

use hierarchy::Registry;

use crate::delegated::ReadError;
use crate::dialect::Foreign;
use crate::text_error::TextError;

/// Why a file was refused. Every sentence names the file.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// It is not there or may not be read.
    #[error("cannot open {file}")]
    Open {
        /// The file.
        file: String,
        /// Why.
        source: io::Error,
    },
    /// It is damaged at its very beginning.
    #[error("cannot read {file}; if it was downloaded, fetch it again")]
    Read {
        /// The file.
        file: String,
        /// Why.
        source: io::Error,
    },
    /// It is something else.
    #[error("{file} cannot be used: {why}")]
    Foreign {
        /// The file.
        file: String,
        /// What it is.
        why: Foreign,
    },
    /// An archive without a text that can be read.
    #[error("{file} holds no registry data; inside are: {inside}")]
    EmptyArchive {
        /// The file.
        file: String,
        /// Names of what is inside.
        inside: String,
    },
    /// A delegated file that is malformed or cut short.
    #[error(transparent)]
    Delegated(#[from] ReadError),
    /// A dump or a routing layer that is malformed or cut short.
    #[error("{file} {why}")]
    Text {
        /// The file.
        file: String,
        /// What is wrong with it.
        #[source]
        why: TextError,
    },
}

/// Why a set of files was refused.
#[derive(Debug, thiserror::Error)]
pub enum ReadAllError {
    /// One of them is malformed, cut short or unreadable.
    #[error(transparent)]
    File(#[from] FileError),
    /// Two of them are of the same registry.
    #[error("{first} and {second} are both of {registry}; give one of them")]
    TwoOfOne {
        /// The registry.
        registry: Registry,
        /// Path of the one.
        first: String,
        /// Path of the other.
        second: String,
    },
    /// More files than can be told apart.
    #[error("more than 65,535 files")]
    TooMany,
    /// Nothing in them that anybody holds.
    #[error("the files hold no delegated address at all; nothing was changed")]
    Nothing,
}

impl FileError {
    /// Whether the file is not there or may not be read.
    pub fn is_not_there(&self) -> bool {
        matches!(self, Self::Open { .. } | Self::Delegated(ReadError::Open { .. }))
    }
}
