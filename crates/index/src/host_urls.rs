//! The URLs of a host that are in the index.

use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, DocSet as _, SegmentReader, TERMINATED, Term};

use crate::document::NO_AGENT;
use crate::open::Index;
use crate::schema::Fields;
use crate::search::SearchError;

/// Some URLs of a host.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HostUrls {
    /// In ascending order.
    pub urls: Vec<String>,
    /// What to continue after; none where these are the last ones.
    pub next: Option<String>,
}

impl Index {
    /// The pages of a host, as in `https://example.org:8443`, by their URLs, those after `after`:
    /// about `limit` are looked at in each segment.
    pub fn urls_of_host(
        &self,
        host: &str,
        after: &str,
        limit: usize,
    ) -> Result<HostUrls, SearchError> {
        self.read_urls(host, after, limit).map_err(SearchError::Read)
    }

    fn read_urls(&self, host: &str, after: &str, limit: usize) -> tantivy::Result<HostUrls> {
        // Each URL of the host begins like this, and `0` follows `/`.
        let first = format!("{host}/");
        let end = format!("{host}0");
        let after = if after < first.as_str() { None } else { Some(after) };
        let mut found = HostUrls::default();
        for segment in self.reader.searcher().segment_readers() {
            let bounds = Bounds { first: &first, after, end: &end, limit };
            let part = urls_of_segment(segment, &self.fields, &bounds)?;
            found.urls.extend(part.urls);
            found.next = match (found.next, part.next) {
                // Beyond the end of either, URLs of that segment may be missing.
                (Some(one), Some(other)) => Some(one.min(other)),
                (one, other) => one.or(other),
            };
        }
        if let Some(next) = &found.next {
            found.urls.retain(|url| url <= next);
        }
        found.urls.sort();
        found.urls.dedup();
        Ok(found)
    }
}

/// The part of the URLs that is read.
struct Bounds<'a> {
    first: &'a str,
    after: Option<&'a str>,
    end: &'a str,
    limit: usize,
}

fn urls_of_segment(
    segment: &SegmentReader,
    fields: &Fields,
    bounds: &Bounds<'_>,
) -> tantivy::Result<HostUrls> {
    let by_url = segment.inverted_index(fields.url)?;
    let range = by_url.terms().range().lt(bounds.end);
    let range = match bounds.after {
        Some(after) => range.gt(after),
        None => range.ge(bounds.first),
    };
    let mut terms = range.into_stream()?;
    let mut found: Vec<(DocId, String)> = Vec::new();
    let mut last = None;
    while terms.advance() {
        let url = String::from_utf8_lossy(terms.key()).into_owned();
        let option = IndexRecordOption::Basic;
        let mut documents = by_url.read_postings_from_terminfo(terms.value(), option)?;
        while documents.doc() != TERMINATED && segment.is_deleted(documents.doc()) {
            documents.advance();
        }
        if documents.doc() != TERMINATED {
            found.push((documents.doc(), url.clone()));
        }
        if found.len() >= bounds.limit {
            last = Some(url);
            break;
        }
    }
    let urls = without_removals(segment, fields, found)?;
    Ok(HostUrls { urls, next: last })
}

/// Without the documents that say that a page was removed.
fn without_removals(
    segment: &SegmentReader,
    fields: &Fields,
    mut found: Vec<(DocId, String)>,
) -> tantivy::Result<Vec<String>> {
    let removal = Term::from_field_i64(fields.agent, NO_AGENT.get());
    let by_agent = segment.inverted_index(fields.agent)?;
    let Some(mut removals) = by_agent.read_postings(&removal, IndexRecordOption::Basic)? else {
        return Ok(found.into_iter().map(|(_, url)| url).collect());
    };
    // Postings are read in the order of the documents.
    found.sort();
    found.retain(|(document, _)| {
        if removals.doc() < *document {
            removals.seek(*document);
        }
        removals.doc() != *document
    });
    Ok(found.into_iter().map(|(_, url)| url).collect())
}
