//! Errors of the frontier.

use std::path::{Path, PathBuf};

use crate::guarded_file::{self, FileError};

/// A failure of the frontier.
#[derive(Debug, thiserror::Error)]
pub enum FrontierError {
    /// Another process has the file open.
    #[error("{0} is in use: is another agent running with this data directory?")]
    InUse(PathBuf),
    /// The file cannot be opened.
    #[error("the frontier {path} cannot be opened")]
    Open {
        /// Path of the file.
        path: PathBuf,
        /// Error of the store.
        #[source]
        source: Box<redb::Error>,
    },
    /// The directory cannot be made.
    #[error(transparent)]
    Directory(Box<crate::file::FileError>),
    /// There is a log without a file.
    #[error("{0} is missing, though its log is there; restore it, or delete the directory")]
    Missing(PathBuf),
    /// A file holds something else than what was written into it.
    #[error(
        "{path} is damaged; `nearcrawl-agent run --rebuild` starts with what can be read of it"
    )]
    Damaged {
        /// Path of the file.
        path: PathBuf,
        /// What could not be read; none where the store itself gave up.
        #[source]
        source: Option<Box<FrontierError>>,
    },
    /// A file cannot be replaced when the frontier is rebuilt.
    #[error("{path} cannot be replaced")]
    Rename {
        /// Path of the file.
        path: PathBuf,
        /// Error of the operating system.
        #[source]
        source: std::io::Error,
    },
    /// The file has a format that this version cannot read.
    #[error(
        "the frontier {path} has format {found}, which this version cannot read: install the \
         version that wrote it, or run `leave --without-coordinator` and join again"
    )]
    Format {
        /// Path of the file.
        path: PathBuf,
        /// Version of the format.
        found: u32,
    },
    /// A file of the log, or its directory, cannot be read or written.
    #[error("the log of the frontier {path} cannot be read or written")]
    Log {
        /// Path of the file or directory.
        path: PathBuf,
        /// Error of the operating system.
        #[source]
        source: std::io::Error,
    },
    /// Records of a segment cannot be read.
    #[error("the records from byte {from} on cannot be read")]
    NoRecords {
        /// Bytes of the records before.
        from: u64,
    },
    /// A segment is missing.
    #[error("there is no such file")]
    NoSegment,
    /// A file with the name of a segment does not begin like one.
    #[error("it does not begin like a log of a frontier")]
    NoStart,
    /// Reading or writing failed.
    #[error("the frontier cannot be read or written")]
    Store(#[source] Box<redb::Error>),
    /// A row, or a record of the log, cannot be encoded or decoded.
    #[error("a record of the frontier cannot be read or written")]
    Record(#[from] postcard::Error),
    /// A change does not fit into a record of the log.
    #[error("a change of the frontier is longer than 4 GiB")]
    LongChange,
    /// A stored URL does not parse.
    #[error("the frontier is damaged: {0} is no URL")]
    Url(String),
    /// Fingerprints of URLs are not all there.
    #[error("the frontier is damaged: fingerprints of URLs are missing")]
    Seen,
    /// Numbers of hosts are not in the form in which they were written.
    #[error("the frontier is damaged: numbers of hosts cannot be read")]
    Numbers,
    /// Rows are not in the order of their keys.
    #[error("the frontier is damaged: rows are not in their order")]
    Order,
    /// A bundle cannot be made, or one of the log cannot be read.
    #[error("a host bundle cannot be read or written")]
    Bundle(#[from] super::BundleError),
    /// The frontier is not used any more after an earlier error.
    #[error("the frontier is closed after an earlier error")]
    Closed,
}

impl FrontierError {
    pub(super) fn open(path: &Path, error: redb::DatabaseError) -> Self {
        match error {
            redb::DatabaseError::DatabaseAlreadyOpen => Self::InUse(path.to_owned()),
            other => Self::Open { path: path.to_owned(), source: Box::new(other.into()) },
        }
    }
}

impl FileError for FrontierError {
    fn damaged(path: PathBuf, source: Option<Box<Self>>) -> Self {
        Self::Damaged { path, source }
    }

    fn closed() -> Self {
        Self::Closed
    }

    fn is_damage(&self) -> bool {
        match self {
            Self::Record(_) | Self::Url(_) | Self::Seen | Self::Numbers | Self::Order => true,
            Self::Store(error) => guarded_file::is_damage(error),
            _ => false,
        }
    }
}

macro_rules! from_redb {
    ($($error:ident),*) => {
        $(impl From<redb::$error> for FrontierError {
            fn from(error: redb::$error) -> Self {
                Self::Store(Box::new(error.into()))
            }
        })*
    };
}

from_redb!(TransactionError, TableError, StorageError, CommitError);
