//! Writing of pages to the index.
//!
//! Pages written since the last commit are lost when the process dies or an error is returned. A
//! caller therefore marks its packages as ingested only after [`Index::commit`] has succeeded, and
//! ingests the others again. Writing a page twice is harmless, because the URL is the key.

use std::collections::HashMap;
use std::sync::{MutexGuard, PoisonError};

use model::UnixMillis;
use tantivy::collector::TopDocs;
use tantivy::indexer::IndexWriterOptions;
use tantivy::query::TermQuery;
use tantivy::schema::{IndexRecordOption, Value as _};
use tantivy::{IndexWriter, TantivyDocument, TantivyError, Term};

use crate::document::{Document, tantivy_document};
use crate::open::Index;

/// Memory in which new pages are collected before they become a segment on disk, in bytes.
const WRITER_BYTES: usize = 48_000_000;
/// Text that may wait for tantivy's worker before a commit is forced, in bytes. Tantivy limits its
/// queue by pages, which may be large.
const QUEUE_BYTES: usize = 32 << 20;

/// Reason why a page was not written. Everything since the last commit is lost, except after
/// [`WriteError::Url`].
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The URL of the page is not absolute or has no host.
    #[error("{url:?} is no absolute URL with a host")]
    Url {
        /// The URL as given.
        url: String,
    },
    /// The index cannot be written, usually because the disk is full.
    #[error("cannot write to the index")]
    Write(#[source] TantivyError),
    /// The files of the index cannot be read.
    #[error("cannot read the index")]
    Read(#[source] TantivyError),
}

/// Tantivy's writer with the state since the last commit.
pub(crate) struct Writer {
    index: tantivy::Index,
    options: IndexWriterOptions,
    /// None after an error, which ends tantivy's worker; created again by the next call.
    tantivy: Option<IndexWriter>,
    queued_bytes: usize,
    /// Times of the fetches of the pages that were written since the last commit.
    uncommitted: HashMap<String, UnixMillis>,
}

impl Writer {
    pub(crate) fn open(index: tantivy::Index) -> tantivy::Result<Self> {
        let options = IndexWriterOptions::builder()
            .num_worker_threads(1)
            .memory_budget_per_thread(WRITER_BYTES)
            .num_merge_threads(1)
            .build();
        let tantivy = Some(index.writer_with_options(options.clone())?);
        Ok(Self { index, options, tantivy, queued_bytes: 0, uncommitted: HashMap::new() })
    }

    fn tantivy(&mut self) -> tantivy::Result<&mut IndexWriter> {
        if self.tantivy.is_none() {
            self.tantivy = Some(self.index.writer_with_options(self.options.clone())?);
        }
        self.tantivy.as_mut().ok_or(TantivyError::Poisoned)
    }

    fn replace(&mut self, key: Term, document: TantivyDocument) -> tantivy::Result<()> {
        let tantivy = self.tantivy()?;
        tantivy.delete_term(key);
        tantivy.add_document(document).map(drop)
    }

    fn commit(&mut self) -> tantivy::Result<()> {
        self.tantivy()?.commit()?;
        self.queued_bytes = 0;
        Ok(())
    }

    /// Returns to the last commit after an error.
    fn roll_back(&mut self) {
        self.tantivy = None;
        self.queued_bytes = 0;
        self.uncommitted.clear();
    }
}

impl Index {
    /// Writes a page under its URL and replaces an earlier fetch of it. A page that was fetched
    /// before the one in the index is ignored.
    pub fn upsert(&self, page: &Document<'_>) -> Result<(), WriteError> {
        let document = tantivy_document(page, &self.fields)
            .ok_or_else(|| WriteError::Url { url: page.url.to_owned() })?;
        let mut writer = self.writer();
        let fetched_at = self.fetched_at(&writer, page.url)?;
        if fetched_at.is_some_and(|indexed| indexed > page.fetched_at) {
            return Ok(());
        }
        let key = Term::from_field_text(self.fields.url, page.url);
        or_roll_back(&mut writer, |writer| writer.replace(key, document))?;
        writer.uncommitted.insert(page.url.to_owned(), page.fetched_at);
        writer.queued_bytes += page.text.len();
        if writer.queued_bytes > QUEUE_BYTES {
            or_roll_back(&mut writer, Writer::commit)?;
        }
        Ok(())
    }

    /// Removes the page with this URL, if there is one.
    pub fn delete(&self, url: &str) -> Result<(), WriteError> {
        let mut writer = self.writer();
        writer.uncommitted.remove(url);
        let key = Term::from_field_text(self.fields.url, url);
        or_roll_back(&mut writer, |writer| {
            writer.tantivy()?.delete_term(key);
            Ok(())
        })
    }

    /// Makes everything written so far durable and searchable. Takes some ten milliseconds.
    pub fn commit(&self) -> Result<(), WriteError> {
        let mut writer = self.writer();
        or_roll_back(&mut writer, Writer::commit)?;
        writer.uncommitted.clear();
        self.reader.reload().map_err(WriteError::Read)
    }

    fn writer(&self) -> MutexGuard<'_, Writer> {
        // A panic elsewhere leaves no half-written page, because a page is one call of tantivy.
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Time of the fetch of the page with this URL, committed or not.
    fn fetched_at(&self, writer: &Writer, url: &str) -> Result<Option<UnixMillis>, WriteError> {
        if let Some(fetched_at) = writer.uncommitted.get(url) {
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
        let document: TantivyDocument = searcher.doc(*address)?;
        let fetched_at = document.get_first(self.fields.fetched_at);
        Ok(fetched_at.and_then(|value| value.as_i64()).map(UnixMillis))
    }
}

fn or_roll_back<T>(
    writer: &mut Writer,
    operation: impl FnOnce(&mut Writer) -> tantivy::Result<T>,
) -> Result<T, WriteError> {
    operation(writer).map_err(|error| {
        writer.roll_back();
        WriteError::Write(error)
    })
}
