//! The index on disk: how it is opened and written.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use model::AgentId;
use tantivy::collector::Count;
use tantivy::directory::MmapDirectory;
use tantivy::directory::error::LockError;
use tantivy::{IndexReader, ReloadPolicy, TantivyError};

use crate::document::{Document, FetchWithoutPage, NO_AGENT};
use crate::merges::BoundedMerges;
use crate::schema::{Fields, schema, tokenizers};
use crate::writer::{WriteError, Writer, of_agent};

/// An index that can be written and searched. One process at a time may open a directory.
pub struct Index {
    pub(crate) fields: Fields,
    pub(crate) reader: IndexReader,
    writer: Mutex<Writer>,
}

/// Reason why an index cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The directory does not exist and cannot be created.
    #[error("cannot create the index directory {path}")]
    Directory {
        /// The directory of the index.
        path: PathBuf,
        /// Error of the system.
        #[source]
        source: std::io::Error,
    },
    /// Another process writes the index.
    #[error(
        "the index in {path} is in use by another process: stop that one, or choose another data \
         directory"
    )]
    InUse {
        /// The directory of the index.
        path: PathBuf,
    },
    /// The index was written by a version with other fields.
    #[error(
        "the index in {path} was written by another version: remove that directory, and the \
         coordinator builds the index again from the packages"
    )]
    OtherVersion {
        /// The directory of the index.
        path: PathBuf,
    },
    /// The files of the index cannot be read or written.
    #[error(
        "cannot open the index in {path}; if it is damaged, remove that directory, and the \
         coordinator builds the index again from the packages"
    )]
    Open {
        /// The directory of the index.
        path: PathBuf,
        /// Error of the search library.
        #[source]
        source: TantivyError,
    },
}

/// Removes files that a killed process had not renamed yet. A file that cannot be removed does no
/// harm.
fn remove_leftovers(dir: &Path) {
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let is_leftover = entry.file_name().to_str().is_some_and(|name| name.starts_with(".tmp"));
        if is_leftover && let Err(error) = std::fs::remove_file(entry.path()) {
            tracing::warn!(path = %entry.path().display(), %error, "cannot remove a leftover");
        }
    }
}

impl Index {
    /// Opens the index in `dir`, which is created when it does not exist. Segments are merged while
    /// that leaves `reserve` bytes free on the disk.
    pub fn open(dir: &Path, reserve: u64) -> Result<Self, OpenError> {
        let path = || dir.to_owned();
        std::fs::create_dir_all(dir)
            .map_err(|source| OpenError::Directory { path: path(), source })?;
        Self::open_existing(dir, reserve).map_err(|error| match error {
            TantivyError::LockFailure(LockError::LockBusy, _) => OpenError::InUse { path: path() },
            TantivyError::SchemaError(_) | TantivyError::IncompatibleIndex(_) => {
                OpenError::OtherVersion { path: path() }
            }
            source => OpenError::Open { path: path(), source },
        })
    }

    fn open_existing(dir: &Path, reserve: u64) -> tantivy::Result<Self> {
        let (schema, fields) = schema();
        let directory = MmapDirectory::open(dir)?;
        let index = tantivy::Index::builder()
            .schema(schema)
            .tokenizers(tokenizers())
            .open_or_create(directory)?;
        // Stored fields are compressed in small blocks. With a small cache, hits in one block
        // decompress it once.
        let reader = index
            .reader_builder()
            .reload_policy(ReloadPolicy::Manual)
            .doc_store_cache_num_blocks(16);
        let reader: IndexReader = reader.try_into()?;
        let merges = BoundedMerges::new(dir, reserve);
        let writer = Mutex::new(Writer::open(index, reader.clone(), fields, merges)?);
        // The writer holds the lock of the directory, so no process is writing these files.
        remove_leftovers(dir);
        Ok(Self { fields, reader, writer })
    }

    /// Writes a page under its URL and replaces an earlier fetch of it. A page that was fetched
    /// before the one in the index is ignored.
    pub fn upsert(&self, page: &Document<'_>) -> Result<(), WriteError> {
        self.writer().upsert(page)
    }

    /// Removes the page with the URL of a fetch that brought none. A page of a later fetch stays,
    /// and one of an earlier fetch that comes later is not written.
    pub fn delete(&self, fetch: &FetchWithoutPage<'_>) -> Result<(), WriteError> {
        self.writer().delete(fetch)
    }

    /// Removes all pages that an agent fetched.
    pub fn delete_agent(&self, agent: AgentId) -> Result<(), WriteError> {
        self.writer().delete_agent(agent)
    }

    /// Makes everything written so far durable and searchable, together with `progress`: a text by
    /// which the caller knows what the index contains. Takes some ten milliseconds.
    pub fn commit(&self, progress: &str) -> Result<(), WriteError> {
        self.writer().commit(progress)
    }

    /// The text of the last commit, also after a restart; empty before the first.
    pub fn progress(&self) -> String {
        self.writer().progress()
    }

    /// Removes files that no part of the index uses, such as those of a merge for which the disk
    /// had no room.
    pub fn collect_garbage(&self) {
        self.writer().collect_garbage();
    }

    fn writer(&self) -> MutexGuard<'_, Writer> {
        // A panic elsewhere leaves no half-written page, because a page is one call of tantivy.
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Number of pages that can be found.
    pub fn len(&self) -> u64 {
        let searcher = self.reader.searcher();
        let removals = searcher.search(&of_agent(NO_AGENT, &self.fields), &Count).unwrap_or(0);
        searcher.num_docs().saturating_sub(removals as u64)
    }

    /// Whether no page can be found.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl std::fmt::Debug for Index {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Index").field("pages", &self.len()).finish_non_exhaustive()
    }
}
