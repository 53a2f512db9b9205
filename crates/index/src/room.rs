//! The index on disk: how it is opened.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use tantivy::directory::MmapDirectory;
use tantivy::directory::error::LockError;
use tantivy::{IndexReader, ReloadPolicy, TantivyError};

use crate::schema::{Fields, schema, tokenizers};
use crate::write::Writing;

/// How much memory the index may take.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Memory in which new pages are gathered before they go to disk, in bytes; at least
    /// 15,000,000.
    pub writer_bytes: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { writer_bytes: 48_000_000 }
    }
}

/// An index that can be written and searched. One process at a time may hold a directory open.
pub struct Index {
    pub(crate) fields: Fields,
    pub(crate) reader: IndexReader,
    pub(crate) writing: Mutex<Writing>,
}

/// Why an index cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The directory is not there and cannot be made.
    #[error("cannot make the index directory {path}")]
    Directory {
        /// Which.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// Another process writes it.
    #[error(
        "the index in {path} is in use by another process: stop that one, or choose another data directory"
    )]
    InUse {
        /// Which.
        path: PathBuf,
    },
    /// It was made by a version with other fields.
    #[error(
        "the index in {path} was made by another version: move it away and integrate the packages again"
    )]
    OtherMake {
        /// Which.
        path: PathBuf,
    },
    /// It cannot be read or written.
    #[error("cannot open the index in {path}")]
    Open {
        /// Which.
        path: PathBuf,
        /// Why.
        #[source]
        source: TantivyError,
    },
}

impl Index {
    /// Opens the index in `dir`, which is made when it is not there.
    pub fn open(dir: &Path, options: Options) -> Result<Self, OpenError> {
        let path = || dir.to_owned();
        std::fs::create_dir_all(dir)
            .map_err(|source| OpenError::Directory { path: path(), source })?;
        Self::open_existing(dir, options).map_err(|error| match error {
            TantivyError::LockFailure(LockError::LockBusy, _) => OpenError::InUse { path: path() },
            TantivyError::SchemaError(_) | TantivyError::IncompatibleIndex(_) => {
                OpenError::OtherMake { path: path() }
            }
            source => OpenError::Open { path: path(), source },
        })
    }

    fn open_existing(dir: &Path, options: Options) -> tantivy::Result<Self> {
        let (schema, fields) = schema();
        let directory = MmapDirectory::open(dir)?;
        let index = tantivy::Index::builder()
            .schema(schema)
            .tokenizers(tokenizers())
            .open_or_create(directory)?;
        // Pages come from the store in small blocks; a small cache spares decompressing one twice
        // for an answer.
        let reader = index
            .reader_builder()
            .reload_policy(ReloadPolicy::Manual)
            .doc_store_cache_num_blocks(16);
        Ok(Self {
            fields,
            reader: reader.try_into()?,
            writing: Mutex::new(Writing::open(index, options)?),
        })
    }

    /// Pages that can be found.
    pub fn len(&self) -> u64 {
        self.reader.searcher().num_docs()
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
