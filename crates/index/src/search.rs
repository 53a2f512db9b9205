//! Searching: from the text of a query to a page of results.

use std::time::Instant;

use model::UnixMillis;
use model::url::fingerprint;
use tantivy::collector::sort_key::{SortBySimilarityScore, SortByStaticFastValue};
use tantivy::collector::{Collector, Count, SegmentCollector, TopDocs};
use tantivy::columnar::Column;
use tantivy::query::{BooleanQuery, Occur, Query as TantivyQuery, TermQuery};
use tantivy::schema::{Field, IndexRecordOption, Value as _};
use tantivy::{DocAddress, Searcher, SegmentReader, TantivyDocument, TantivyError};

use crate::copies::{Group, RankedPage, grouped};
use crate::document::{NO_AGENT, first_fetched_at};
use crate::hidden::HiddenPages;
use crate::open::Index;
use crate::query::Query;
use crate::schema::{CONTENT, FETCHED_AT, Fields, PREFERENCE};
use crate::snippet::{Highlighter, SnippetFragment, shortened, without_title};
use crate::statistics::Statistics;
use crate::tantivy_query::tantivy_query;
use crate::writer::of_agent;

/// Number of best hits of a query that can be paged through.
pub const WINDOW_MAX: usize = 1_000;

/// Most copies that are listed with a hit.
const COPIES_MAX: usize = 5;
/// Pages that are ranked for each hit that is wanted, because some are copies; and how many times
/// more in each further attempt.
const RANKED_FOR_A_HIT: usize = 4;
/// Most pages that are ranked.
const RANKED_MAX: usize = 16 * WINDOW_MAX;

/// A page of the hits of a query.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SearchResults {
    /// Number of all pages that match, copies included.
    pub total: u64,
    /// The requested hits, best first, without copies of better ones.
    pub hits: Vec<SearchHit>,
    /// Whether there are further hits after them.
    pub has_more: bool,
}

/// A page that matches a query.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchHit {
    /// URL of the page.
    pub url: String,
    /// URLs of the first [`COPIES_MAX`] pages of its site with the same title and text.
    pub copies: Vec<String>,
    /// Title; may be empty.
    pub title: String,
    /// Primary subtag of the language; `None` when it is unknown.
    pub lang: Option<String>,
    /// A passage of the page in which the query matches, as long as the page allows; may be empty.
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
    /// best [`WINDOW_MAX`], without the `hidden` pages. A query without words and filters has no
    /// hits. The search gives up before the first segment, or the first snippet, that begins after
    /// `deadline`.
    pub fn search(
        &self,
        deadline: Instant,
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
        deadline: Instant,
        hidden: &[HiddenPages],
        query: &Query,
        offset: usize,
        limit: usize,
    ) -> tantivy::Result<SearchResults> {
        let searcher = self.reader.searcher();
        let matching = tantivy_query(query, hidden, &self.fields);
        let statistics = Statistics::new(&searcher, query, &self.fields)?;
        let wanted = offset + limit;
        let mut most = RANKED_FOR_A_HIT * (wanted + 1);
        let (total, groups) = loop {
            let (total, ranked) = rank(&statistics, &matching, most, deadline)?;
            let are_all = ranked.len() < most || most >= RANKED_MAX;
            let groups = grouped(ranked);
            if are_all || groups.len() > wanted {
                break (total, groups);
            }
            most *= RANKED_FOR_A_HIT;
        };
        let has_more = groups.len() > wanted;
        let highlighter = Highlighter::new(query);
        let mut hits = Vec::with_capacity(limit);
        for group in groups.iter().skip(offset).take(limit) {
            check(deadline)?;
            hits.push(hit(&searcher, group, &self.fields, &highlighter)?);
        }
        Ok(SearchResults { total: total as u64, hits, has_more })
    }
}

/// The best pages, each with its content number.
type Ranking = Vec<(Option<u64>, RankedPage<DocAddress>)>;

/// The number of pages that match, and the best of them.
fn rank(
    statistics: &Statistics<'_>,
    matching: &dyn TantivyQuery,
    most: usize,
    deadline: Instant,
) -> tantivy::Result<(usize, Ranking)> {
    // Pages of equal score, which are all those of a query of filters alone, have the same order in
    // every index. Else the pages of a list would repeat some, and leave others out.
    let newest = SortByStaticFastValue::<i64>::for_field(FETCHED_AT);
    let best = TopDocs::with_limit(most).order_by((SortBySimilarityScore, newest));
    let collector = UntilDeadline { collector: (Count, best), deadline };
    let searcher = statistics.searcher;
    let (total, best) =
        searcher.search_with_statistics_provider(matching, &collector, statistics)?;
    // Read for these alone: as keys of the order they would be read for every page that matches.
    let columns = columns(searcher)?;
    let ranked = best.into_iter().map(|((score, _), address)| {
        let (content, preference) = &columns[address.segment_ord as usize];
        let preference = preference.first(address.doc_id).unwrap_or(0);
        (content.first(address.doc_id), RankedPage { score, preference, address })
    });
    Ok((total, ranked.collect()))
}

/// Content numbers of the pages of each segment, and the preferences for their URLs.
fn columns(searcher: &Searcher) -> tantivy::Result<Vec<(Column<u64>, Column<u64>)>> {
    let of_segment = |segment: &SegmentReader| {
        let fields = segment.fast_fields();
        Ok((fields.u64(CONTENT)?, fields.u64(PREFERENCE)?))
    };
    searcher.segment_readers().iter().map(of_segment).collect()
}

/// Text of the error with which a collector ends at the deadline.
const TOO_LONG: &str = "the deadline of the search passed";

/// Fails after the deadline.
fn check(deadline: Instant) -> tantivy::Result<()> {
    if deadline <= Instant::now() {
        return Err(TantivyError::InternalError(TOO_LONG.to_owned()));
    }
    Ok(())
}

/// A collector that fails at the first segment after the deadline.
struct UntilDeadline<C> {
    collector: C,
    deadline: Instant,
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

/// The hit of a page and its copies.
fn hit(
    searcher: &Searcher,
    group: &Group<DocAddress>,
    fields: &Fields,
    highlighter: &Highlighter,
) -> tantivy::Result<SearchHit> {
    let document: TantivyDocument = searcher.doc(group.shown.address)?;
    let url_of = |page: &RankedPage<DocAddress>| {
        Ok(text(&searcher.doc(page.address)?, fields.url).to_owned())
    };
    let copies = group.copies.iter().take(COPIES_MAX).map(url_of);
    let lang = Some(text(&document, fields.lang)).filter(|lang| !lang.is_empty());
    let title = text(&document, fields.title);
    let fetched_at = document.get_first(fields.fetched_at).and_then(|value| value.as_i64());
    let max_snippet = document.get_first(fields.max_snippet).and_then(|value| value.as_u64());
    let snippet = highlighter.snippet(without_title(text(&document, fields.body), title), lang);
    Ok(SearchHit {
        url: text(&document, fields.url).to_owned(),
        copies: copies.collect::<tantivy::Result<_>>()?,
        title: title.to_owned(),
        lang: lang.map(str::to_owned),
        snippet: shortened(snippet, max_snippet),
        fetched_at: UnixMillis(fetched_at.unwrap_or(0)),
        score: group.shown.score,
    })
}

fn text(document: &TantivyDocument, field: Field) -> &str {
    document.get_first(field).and_then(|value| value.as_str()).unwrap_or_default()
}
