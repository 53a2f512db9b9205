//! Pages go in.
//!
//! What was written since the last commit is lost when the process dies or an error is returned: a
//! caller marks its packages as integrated after [`Index::commit`] said yes, and gives those again
//! that it had not marked. Giving a page twice is harmless, since the URL is the key.

use std::collections::HashMap;
use std::sync::{MutexGuard, PoisonError};

use model::UnixMillis;
use protocol::package::PackageName;
use tantivy::collector::TopDocs;
use tantivy::indexer::IndexWriterOptions;
use tantivy::query::TermQuery;
use tantivy::schema::{IndexRecordOption, Value as _};
use tantivy::{IndexWriter, TantivyDocument, TantivyError, Term};

use crate::entry::{Document, entry, package_term};
use crate::room::{Index, Options};

/// Text that may wait for tantivy's worker before it is made to catch up, in bytes: the queue
/// counts pages, not bytes.
const QUEUE_BYTES: usize = 32 << 20;

/// Why a page did not go in. Everything since the last commit is forgotten, save after
/// [`WriteError::Url`].
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The page's URL is none that a page can have.
    #[error("{url:?} is no absolute URL with a host")]
    Url {
        /// As given.
        url: String,
    },
    /// The index cannot be written, usually because the disk is full.
    #[error("cannot write to the index")]
    Write(#[source] TantivyError),
    /// The index cannot be read.
    #[error("cannot read the index")]
    Read(#[source] TantivyError),
}

/// The writing side.
pub(crate) struct Writing {
    index: tantivy::Index,
    options: IndexWriterOptions,
    /// None after an error that even starting over did not help.
    writer: Option<IndexWriter>,
    queued_bytes: usize,
    /// When the pages written since the last commit were fetched.
    fresh: HashMap<String, UnixMillis>,
}

impl Writing {
    pub(crate) fn open(index: tantivy::Index, options: Options) -> tantivy::Result<Self> {
        let options = IndexWriterOptions::builder()
            .num_worker_threads(1)
            .memory_budget_per_thread(options.writer_bytes)
            .num_merge_threads(1)
            .build();
        let writer = Some(index.writer_with_options(options.clone())?);
        Ok(Self { index, options, writer, queued_bytes: 0, fresh: HashMap::new() })
    }

    fn writer(&mut self) -> tantivy::Result<&mut IndexWriter> {
        if self.writer.is_none() {
            self.writer = Some(self.index.writer_with_options(self.options.clone())?);
        }
        self.writer.as_mut().ok_or(TantivyError::Poisoned)
    }

    fn replace(&mut self, key: Term, entry: TantivyDocument) -> tantivy::Result<()> {
        let writer = self.writer()?;
        writer.delete_term(key);
        writer.add_document(entry).map(drop)
    }

    fn remove(&mut self, key: Term) -> tantivy::Result<()> {
        self.writer()?.delete_term(key);
        Ok(())
    }

    fn commit(&mut self) -> tantivy::Result<()> {
        self.writer()?.commit()?;
        self.queued_bytes = 0;
        Ok(())
    }

    /// After an error the worker is gone; the next call begins from the last commit.
    fn start_over(&mut self) {
        self.writer = None;
        self.queued_bytes = 0;
        self.fresh.clear();
    }
}

impl Index {
    /// Writes a page under its URL, in place of an earlier fetch of it. A page fetched before the
    /// one that is already there changes nothing.
    pub fn upsert(&self, page: &Document<'_>) -> Result<(), WriteError> {
        let entry = entry(page, &self.fields)
            .ok_or_else(|| WriteError::Url { url: page.url.to_owned() })?;
        let mut writing = self.writing();
        if self.fetched_at(&writing, page.url)?.is_some_and(|there| there > page.fetched_at) {
            return Ok(());
        }
        let key = Term::from_field_text(self.fields.url, page.url);
        attempt(&mut writing, |writing| writing.replace(key, entry))?;
        writing.fresh.insert(page.url.to_owned(), page.fetched_at);
        writing.queued_bytes += page.text.len();
        if writing.queued_bytes > QUEUE_BYTES {
            attempt(&mut writing, Writing::commit)?;
        }
        Ok(())
    }

    /// Takes a page out.
    pub fn delete(&self, url: &str) -> Result<(), WriteError> {
        let mut writing = self.writing();
        writing.fresh.remove(url);
        let key = Term::from_field_text(self.fields.url, url);
        attempt(&mut writing, |writing| writing.remove(key))
    }

    /// Takes out all pages that a package brought and no later one replaced.
    pub fn delete_package(&self, name: &PackageName) -> Result<(), WriteError> {
        let mut writing = self.writing();
        let key = Term::from_field_text(self.fields.package, &package_term(name));
        attempt(&mut writing, |writing| writing.remove(key))
    }

    /// Makes everything written so far durable and searchable. Takes some ten milliseconds.
    pub fn commit(&self) -> Result<(), WriteError> {
        let mut writing = self.writing();
        attempt(&mut writing, Writing::commit)?;
        writing.fresh.clear();
        self.reader.reload().map_err(WriteError::Read)
    }

    fn writing(&self) -> MutexGuard<'_, Writing> {
        // Whoever panicked with it left nothing half done that a commit would show.
        self.writing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// When the page of this URL was fetched, as last written.
    fn fetched_at(&self, writing: &Writing, url: &str) -> Result<Option<UnixMillis>, WriteError> {
        if let Some(fetched_at) = writing.fresh.get(url) {
            return Ok(Some(*fetched_at));
        }
        let key = Term::from_field_text(self.fields.url, url);
        self.committed_at(key).map_err(WriteError::Read)
    }

    fn committed_at(&self, key: Term) -> tantivy::Result<Option<UnixMillis>> {
        let searcher = self.reader.searcher();
        let query = TermQuery::new(key, IndexRecordOption::Basic);
        let found = searcher.search(&query, &TopDocs::with_limit(1).order_by_score())?;
        let Some((_, address)) = found.first() else { return Ok(None) };
        let entry: TantivyDocument = searcher.doc(*address)?;
        Ok(entry.get_first(self.fields.fetched_at).and_then(|value| value.as_i64()).map(UnixMillis))
    }
}

fn attempt<T>(
    writing: &mut Writing,
    outcome: impl FnOnce(&mut Writing) -> tantivy::Result<T>,
) -> Result<T, WriteError> {
    outcome(writing).map_err(|error| {
        writing.start_over();
        WriteError::Write(error)
    })
}
