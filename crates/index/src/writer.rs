//! Writing of pages to the index.
//!
//! Pages written since the last commit are lost when the process dies or an error is returned. A
//! caller therefore marks its packages as ingested only after [`Writer::commit`] has succeeded, and
//! ingests the others again. Writing a page twice is harmless: the fingerprint of its URL is the
//! key.

use std::collections::HashMap;

use model::url::{Fingerprint, fingerprint};
use model::{AgentId, UnixMillis};
use tantivy::indexer::IndexWriterOptions;
use tantivy::query::TermQuery;
use tantivy::schema::IndexRecordOption;
use tantivy::{IndexReader, IndexWriter, TantivyDocument, TantivyError, Term};

use crate::document::{
    Document, FetchWithoutPage, NO_AGENT, first_fetched_at, removal, tantivy_document,
};
use crate::merges::BoundedMerges;
use crate::schema::Fields;

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
    reader: IndexReader,
    fields: Fields,
    options: IndexWriterOptions,
    merges: BoundedMerges,
    /// None after an error, which ends tantivy's worker; created again by the next call.
    tantivy: Option<IndexWriter>,
    queued_bytes: usize,
    /// Text of the last commit, see [`Writer::commit`].
    progress: String,
    /// The pages that were written since the last commit.
    uncommitted: HashMap<Fingerprint, Uncommitted>,
}

/// A page, or the removal of one, that was written since the last commit.
struct Uncommitted {
    agent: AgentId,
    fetched_at: UnixMillis,
}

/// The documents of an agent.
pub(crate) fn of_agent(agent: AgentId, fields: &Fields) -> TermQuery {
    let term = Term::from_field_i64(fields.agent, agent.get());
    TermQuery::new(term, IndexRecordOption::Basic)
}

/// A writer of tantivy. What an earlier one left unfinished is removed.
fn tantivy_writer(
    index: &tantivy::Index,
    options: &IndexWriterOptions,
    merges: &BoundedMerges,
) -> tantivy::Result<IndexWriter> {
    let writer = index.writer_with_options(options.clone())?;
    writer.set_merge_policy(Box::new(merges.clone()));
    collect_garbage(&writer);
    Ok(writer)
}

/// A merge that failed because the disk was full leaves its files, which may fill it. Tantivy
/// removes them with the next commit, which needs space as well.
fn collect_garbage(writer: &IndexWriter) {
    if let Err(error) = writer.garbage_collect_files().wait() {
        tracing::warn!(%error, "unused files of the index cannot be removed");
    }
}

impl Writer {
    pub(crate) fn open(
        index: tantivy::Index,
        reader: IndexReader,
        fields: Fields,
        merges: BoundedMerges,
    ) -> tantivy::Result<Self> {
        let options = IndexWriterOptions::builder()
            .num_worker_threads(1)
            .memory_budget_per_thread(WRITER_BYTES)
            // Small merges continue while a large one runs, which may take an hour.
            .num_merge_threads(2)
            .build();
        let tantivy = Some(tantivy_writer(&index, &options, &merges)?);
        let progress = index.load_metas()?.payload.unwrap_or_default();
        let uncommitted = HashMap::new();
        let queued_bytes = 0;
        Ok(Self {
            index,
            reader,
            fields,
            options,
            merges,
            tantivy,
            queued_bytes,
            progress,
            uncommitted,
        })
    }

    /// Writes a page under its URL and replaces an earlier fetch of it. A page that was fetched
    /// before the one in the index is ignored.
    pub(crate) fn upsert(&mut self, page: &Document<'_>) -> Result<(), WriteError> {
        let key = fingerprint(page.url);
        let document = tantivy_document(page, &key, &self.fields)
            .ok_or_else(|| WriteError::Url { url: page.url.to_owned() })?;
        if self.has_later(&key, page.fetched_at, page.now)? {
            return Ok(());
        }
        self.or_roll_back(|writer| writer.replace(&key, document))?;
        let written = Uncommitted { agent: page.agent, fetched_at: page.fetched_at };
        self.uncommitted.insert(key, written);
        self.queued_bytes += page.text.len();
        if self.queued_bytes > QUEUE_BYTES {
            self.or_roll_back(Self::flush)?;
        }
        Ok(())
    }

    /// Removes the page with the URL of a fetch that brought none. A page of a later fetch stays.
    ///
    /// A document without words takes its place, with the time of the fetch: packages are not read
    /// in the order of fetches, and an earlier page that comes later must not be written.
    pub(crate) fn delete(&mut self, fetch: &FetchWithoutPage<'_>) -> Result<(), WriteError> {
        let FetchWithoutPage { url, fetched_at, now } = *fetch;
        let key = fingerprint(url);
        if self.has_later(&key, fetched_at, now)? {
            return Ok(());
        }
        let removal = removal(fetch, &key, &self.fields);
        self.or_roll_back(|writer| writer.replace(&key, removal))?;
        self.uncommitted.insert(key, Uncommitted { agent: NO_AGENT, fetched_at });
        Ok(())
    }

    /// Removes all pages that an agent fetched.
    pub(crate) fn delete_agent(&mut self, agent: AgentId) -> Result<(), WriteError> {
        self.uncommitted.retain(|_, written| written.agent != agent);
        let of_agent = Term::from_field_i64(self.fields.agent, agent.get());
        self.or_roll_back(|writer| {
            writer.tantivy()?.delete_term(of_agent);
            Ok(())
        })
    }

    /// Makes everything written so far durable and searchable, together with `progress`.
    pub(crate) fn commit(&mut self, progress: &str) -> Result<(), WriteError> {
        let before = std::mem::replace(&mut self.progress, progress.to_owned());
        let flushed = self.or_roll_back(Self::flush);
        if flushed.is_err() {
            self.progress = before;
        }
        flushed?;
        self.uncommitted.clear();
        self.reader.reload().map_err(WriteError::Read)
    }

    /// Removes files that no segment uses.
    pub(crate) fn collect_garbage(&self) {
        self.tantivy.as_ref().map(collect_garbage);
    }

    /// The text of the last commit; empty before the first.
    pub(crate) fn progress(&self) -> String {
        self.progress.clone()
    }

    /// Whether the index has a fetch of the URL from after `fetched_at`. Times after `now` cannot
    /// be true, so that they do not count. When the page was received does not matter: packages
    /// are not read in the order in which they come.
    fn has_later(
        &self,
        key: &Fingerprint,
        fetched_at: UnixMillis,
        now: UnixMillis,
    ) -> Result<bool, WriteError> {
        let indexed = self.fetched_at(key)?.filter(|indexed| *indexed <= now);
        Ok(indexed.is_some_and(|indexed| indexed > fetched_at))
    }

    /// Time of the fetch of the page with this key, committed or not.
    fn fetched_at(&self, key: &Fingerprint) -> Result<Option<UnixMillis>, WriteError> {
        if let Some(written) = self.uncommitted.get(key) {
            return Ok(Some(written.fetched_at));
        }
        let of_key = TermQuery::new(self.fields.key_term(key), IndexRecordOption::Basic);
        first_fetched_at(&self.reader.searcher(), &of_key, &self.fields).map_err(WriteError::Read)
    }

    fn tantivy(&mut self) -> tantivy::Result<&mut IndexWriter> {
        if self.tantivy.is_none() {
            self.tantivy = Some(tantivy_writer(&self.index, &self.options, &self.merges)?);
        }
        self.tantivy.as_mut().ok_or(TantivyError::Poisoned)
    }

    fn replace(&mut self, key: &Fingerprint, document: TantivyDocument) -> tantivy::Result<()> {
        let key = self.fields.key_term(key);
        let tantivy = self.tantivy()?;
        tantivy.delete_term(key);
        tantivy.add_document(document).map(drop)
    }

    /// Makes the pages durable. They are not searchable until the reader is reloaded.
    fn flush(&mut self) -> tantivy::Result<()> {
        let progress = self.progress.clone();
        let mut prepared = self.tantivy()?.prepare_commit()?;
        prepared.set_payload(&progress);
        prepared.commit()?;
        self.queued_bytes = 0;
        Ok(())
    }

    /// Returns to the last commit after an error.
    fn roll_back(&mut self) {
        self.tantivy = None;
        self.queued_bytes = 0;
        self.uncommitted.clear();
    }

    fn or_roll_back(
        &mut self,
        operation: impl FnOnce(&mut Self) -> tantivy::Result<()>,
    ) -> Result<(), WriteError> {
        operation(self).map_err(|error| {
            self.roll_back();
            WriteError::Write(error)
        })
    }
}
