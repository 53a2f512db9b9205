//! What happens while one waits.

/// A step of a load or a download, for whoever shows progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step<'a> {
    /// A file is being read or downloaded; `bytes` is its size as stored, where known.
    File {
        /// What to call it.
        name: &'a str,
        /// Bytes in all.
        bytes: Option<u64>,
        /// Bytes that were there already from an earlier attempt.
        there: u64,
    },
    /// So many more bytes of it are done.
    Bytes(u64),
    /// The records are being nested into a tree.
    Nest {
        /// How many.
        records: u64,
    },
    /// Another process loads a generation; this one waits for it.
    WaitForOther,
    /// Rows are being copied into Postgres.
    Copy {
        /// Rows in all.
        rows: u64,
    },
    /// So many rows are copied by now.
    Copied(u64),
    /// Something went wrong that will be tried again.
    Again {
        /// What, in a sentence.
        why: &'a str,
    },
    /// What was begun last is done.
    Done,
}

/// Whoever wants to see the steps.
pub type Watch<'a> = &'a (dyn Fn(Step<'_>) + Sync);
