//! Progress of a load or a download.

/// An event of a load or a download.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step<'a> {
    /// A file is being read or downloaded.
    File {
        /// Name without the directory.
        name: &'a str,
        /// Size as stored, where known.
        bytes: Option<u64>,
        /// Bytes present from an earlier attempt.
        present: u64,
    },
    /// So many more stored bytes of the file are done.
    Bytes(u64),
    /// The hierarchy is being built.
    Build {
        /// Ranges that were read.
        ranges: u64,
    },
    /// Another process loads a generation; this one waits for it.
    WaitForOtherLoad,
    /// Rows are being copied into Postgres.
    Copy {
        /// Subnets and companies together.
        rows: u64,
    },
    /// Number of rows copied so far.
    Copied(u64),
    /// An attempt failed and will be repeated.
    Retry {
        /// The failure, as a sentence without a period.
        reason: &'a str,
    },
    /// The step reported last is complete.
    Done,
}

/// Receives the steps. The library itself prints nothing.
pub type Progress<'a> = &'a (dyn Fn(Step<'_>) + Sync);
