//! Searching: from the text of a query to a page of results.

use std::time::Instant;

use model::UnixMillis;
use model::url::fingerprint;
use tantivy::collector::sort_key::{SortBySimilarityScore, SortByStaticFastValue};
use tantivy::collector::{Collector, Count, SegmentCollector, TopDocs};
use tantivy::query::{BooleanQuery, Occur, Query as TantivyQuery, TermQuery};
use tantivy::schema::{Field, IndexRecordOption, Value as _};
use tantivy::{SegmentReader, TantivyDocument, TantivyError};

use crate::document::{NO_AGENT, first_fetched_at};
use crate::hidden::HiddenPages;
use crate::open::Index;
use crate::query::Query;
use crate::schema::{FETCHED_AT, Fields};
use crate::snippet::{Highlighter, SnippetFragment, without_title};
use crate::tantivy_query::tantivy_query;
use crate::writer::of_agent;

/// Number of best hits of a query that can be paged through.
pub const WINDOW_MAX: usize = 1_000;

/// A page of the hits of a query.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SearchResults {
    /// Number of all pages that match.
    pub total: u64,
    /// The requested hits, best first.
    pub hits: Vec<SearchHit>,
}

/// A page that matches a query.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchHit {
    /// URL of the page.
    pub url: String,
    /// Title; may be empty.
    pub title: String,
    /// Primary subtag of the language; `None` when it is unknown.
    pub lang: Option<String>,
    /// A passage of the page in which the query matches.
    pub snippet: Vec<SnippetFragment>,
    /// Time of the fetch.
    pub fetched_at: UnixMillis,
    /// BM25 score with the boosts of `tantivy_query`; comparable within one query only.
    pub score: f32,
}

/// Reason why a query has no results.
#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    /// The files of the index cannot be read.
    #[error("cannot read the index")]
    Read(#[source] TantivyError),
    /// The deadline passed.
    #[error("the search took too long")]
    TooLong,
}

impl Index {
    /// Searches for what a user typed: at most `limit` hits after the first `offset`, within the
    /// best [`WINDOW_MAX`]. A query without words and filters has no hits.
    pub fn search(
        &self,
        query: &str,
        offset: usize,
        limit: usize,
    ) -> Result<SearchResults, SearchError> {
        self.run(None, &[], query, offset, limit)
    }

    /// Like [`Index::search`], but leaves `hidden` pages out, and gives up before the first
    /// segment, or the first snippet, that begins after `deadline`.
    pub fn search_until(
        &self,
        deadline: Instant,
        hidden: &[HiddenPages],
        query: &str,
        offset: usize,
        limit: usize,
    ) -> Result<SearchResults, SearchError> {
        self.run(Some(deadline), hidden, query, offset, limit)
    }

    fn run(
        &self,
        deadline: Option<Instant>,
        hidden: &[HiddenPages],
        query: &str,
        offset: usize,
        limit: usize,
    ) -> Result<SearchResults, SearchError> {
        let query = Query::parse(query);
        let limit = limit.min(WINDOW_MAX.saturating_sub(offset));
        if query.is_empty() || limit == 0 {
            return Ok(SearchResults::default());
        }
        self.execute(deadline, hidden, &query, offset, limit).map_err(|error| match error {
            TantivyError::InternalError(text) if text == TOO_LONG => SearchError::TooLong,
            error => SearchError::Read(error),
        })
    }

    /// Finds the hidden pages in all segments, so that no search has to.
    pub fn find_hidden(&self, hidden: &HiddenPages) -> Result<(), SearchError> {
        hidden.find_in(self.reader.searcher().segment_readers()).map_err(SearchError::Read)
    }

    /// When the page with this URL was fetched; `None` when it is not in the index.
    pub fn fetched_at(&self, url: &str) -> Result<Option<UnixMillis>, SearchError> {
        self.look_up(url).map_err(SearchError::Read)
    }

    fn look_up(&self, url: &str) -> tantivy::Result<Option<UnixMillis>> {
        let key = self.fields.key_term(&fingerprint(url));
        let of_url: Box<dyn TantivyQuery> = Box::new(TermQuery::new(key, IndexRecordOption::Basic));
        let removals: Box<dyn TantivyQuery> = Box::new(of_agent(NO_AGENT, &self.fields));
        let query = BooleanQuery::new(vec![(Occur::Must, of_url), (Occur::MustNot, removals)]);
        first_fetched_at(&self.reader.searcher(), &query, &self.fields)
    }

    fn execute(
        &self,
        deadline: Option<Instant>,
        hidden: &[HiddenPages],
        query: &Query,
        offset: usize,
        limit: usize,
    ) -> tantivy::Result<SearchResults> {
        let searcher = self.reader.searcher();
        // Pages of equal score, which are all those of a query of filters alone, have the same
        // order in every index. Else the pages of a list would repeat some, and leave others out.
        let newest = SortByStaticFastValue::<i64>::for_field(FETCHED_AT);
        let best = TopDocs::with_limit(limit).and_offset(offset);
        let best = best.order_by((SortBySimilarityScore, newest));
        let collector = UntilDeadline { collector: (Count, best), deadline };
        let matching = tantivy_query(query, hidden, &self.fields);
        let (total, best) = searcher.search(&matching, &collector)?;
        let highlighter = Highlighter::new(query);
        let mut hits = Vec::with_capacity(best.len());
        for ((score, _), address) in best {
            check(deadline)?;
            hits.push(hit(&searcher.doc(address)?, score, &self.fields, &highlighter));
        }
        Ok(SearchResults { total: total as u64, hits })
    }
}

/// Text of the error with which a collector ends at the deadline.
const TOO_LONG: &str = "the deadline of the search passed";

/// Fails after the deadline.
fn check(deadline: Option<Instant>) -> tantivy::Result<()> {
    if deadline.is_some_and(|deadline| deadline <= Instant::now()) {
        return Err(TantivyError::InternalError(TOO_LONG.to_owned()));
    }
    Ok(())
}

/// A collector that fails at the first segment after the deadline.
struct UntilDeadline<C> {
    collector: C,
    deadline: Option<Instant>,
}

impl<C: Collector> Collector for UntilDeadline<C> {
    type Fruit = C::Fruit;
    type Child = C::Child;

    fn for_segment(&self, number: u32, segment: &SegmentReader) -> tantivy::Result<C::Child> {
        check(self.deadline)?;
        self.collector.for_segment(number, segment)
    }

    fn requires_scoring(&self) -> bool {
        self.collector.requires_scoring()
    }

    fn merge_fruits(
        &self,
        fruits: Vec<<C::Child as SegmentCollector>::Fruit>,
    ) -> tantivy::Result<C::Fruit> {
        self.collector.merge_fruits(fruits)
    }
}

fn hit(
    document: &TantivyDocument,
    score: f32,
    fields: &Fields,
    highlighter: &Highlighter,
) -> SearchHit {
    let text = |field: Field| {
        document.get_first(field).and_then(|value| value.as_str()).unwrap_or_default()
    };
    let lang = Some(text(fields.lang)).filter(|lang| !lang.is_empty());
    let fetched_at = document.get_first(fields.fetched_at).and_then(|value| value.as_i64());
    SearchHit {
        url: text(fields.url).to_owned(),
        title: text(fields.title).to_owned(),
        lang: lang.map(str::to_owned),
        snippet: highlighter.snippet(without_title(text(fields.body), text(fields.title)), lang),
        fetched_at: UnixMillis(fetched_at.unwrap_or(0)),
        score,
    }
}
