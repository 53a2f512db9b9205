//! Pages that searches leave out.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use model::url::{Fingerprint, fingerprint};
use tantivy::index::SegmentId;
use tantivy::query::{
    BitSetDocSet, ConstScorer, EmptyScorer, EnableScoring, Explanation, Query, Scorer, Weight,
};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{
    BitSet, DocId, DocSet as _, InvertedIndexReader, Score, SegmentReader, TERMINATED,
    TantivyError, Term,
};

use crate::schema::{Fields, schema};

/// Sets of pages that are kept. An index has some tens of segments; a segment that was merged into
/// another leaves a set that is not needed any more.
const MOST_SETS: usize = 1_000;
/// To look a host up in a dictionary takes about as long as to read this many of its terms.
const TERMS_A_LOOKUP: usize = 20;

/// Sites, hosts and pages that searches leave out. It is built once and used by many searches: the
/// first search of each segment finds the pages, the others have them in memory.
#[derive(Clone, Default)]
pub struct HiddenPages(Option<Arc<Hidden>>);

/// What is hidden, each list sorted.
struct Hidden {
    fields: Fields,
    sites: Vec<String>,
    /// Pages, in any spelling of their URLs.
    keys: Vec<Fingerprint>,
    /// The beginnings of the URLs of hosts, up to the path.
    hosts: Vec<String>,
    /// The hidden pages of each segment. What a segment has never changes, but for deletions.
    found: Mutex<HashMap<SegmentId, Arc<BitSet>>>,
}

impl HiddenPages {
    /// All pages of these hosts and domains, as `site:` names them, and the pages with these URLs.
    pub fn new<'a>(
        sites: impl IntoIterator<Item = &'a str>,
        urls: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let sites = sites.into_iter().map(str::to_owned);
        Self::of(sites.collect(), urls.into_iter().map(fingerprint).collect(), Vec::new())
    }

    /// All pages of these hosts, as in `https://example.org:8443`.
    pub fn of_hosts(mut hosts: Vec<String>) -> Self {
        for host in &mut hosts {
            // There may be millions of them.
            host.reserve_exact(1);
            host.push('/');
        }
        Self::of(Vec::new(), Vec::new(), hosts)
    }

    fn of(mut sites: Vec<String>, mut keys: Vec<Fingerprint>, mut hosts: Vec<String>) -> Self {
        if sites.is_empty() && keys.is_empty() && hosts.is_empty() {
            return Self::default();
        }
        // Dictionaries are read in one direction.
        sites.sort_unstable();
        keys.sort_unstable();
        hosts.sort_unstable();
        let (_, fields) = schema();
        Self(Some(Arc::new(Hidden { fields, sites, keys, hosts, found: Mutex::default() })))
    }

    /// Finds the pages in these segments, and forgets those of others.
    pub(crate) fn find_in(&self, segments: &[SegmentReader]) -> tantivy::Result<()> {
        let Some(hidden) = &self.0 else { return Ok(()) };
        for segment in segments {
            hidden.pages_of(segment)?;
        }
        let ids: HashSet<SegmentId> = segments.iter().map(SegmentReader::segment_id).collect();
        hidden.sets().retain(|id, _| ids.contains(id));
        Ok(())
    }

    /// Matches the pages; none when nothing is hidden.
    pub(crate) fn query(&self) -> Option<Box<dyn Query>> {
        Some(Box::new(HiddenQuery(Arc::clone(self.0.as_ref()?))))
    }
}

/// Whether the lists are the same.
impl PartialEq for HiddenPages {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Some(one), Some(two)) => {
                one.hosts == two.hosts && one.sites == two.sites && one.keys == two.keys
            }
            (one, two) => one.is_none() && two.is_none(),
        }
    }
}

impl std::fmt::Debug for HiddenPages {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HiddenPages").field("is_empty", &self.0.is_none()).finish_non_exhaustive()
    }
}

impl Hidden {
    /// The hidden pages of a segment.
    fn pages_of(&self, segment: &SegmentReader) -> tantivy::Result<Arc<BitSet>> {
        let id = segment.segment_id();
        let known = self.sets().get(&id).cloned();
        if let Some(pages) = known {
            return Ok(pages);
        }
        // The lock is not held here, because searches of other segments would wait for it. Two
        // searches may do the same work.
        let pages = Arc::new(self.find(segment)?);
        let mut found = self.sets();
        if found.len() >= MOST_SETS {
            found.clear();
        }
        found.insert(id, Arc::clone(&pages));
        Ok(pages)
    }

    fn sets(&self) -> MutexGuard<'_, HashMap<SegmentId, Arc<BitSet>>> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn find(&self, segment: &SegmentReader) -> tantivy::Result<BitSet> {
        let mut pages = BitSet::with_max_value(segment.max_doc());
        let site = |site: &String| Term::from_field_text(self.fields.site, site);
        add_terms(segment, self.fields.site, self.sites.iter().map(site), &mut pages)?;
        let key = |key| self.fields.key_term(key);
        add_terms(segment, self.fields.key, self.keys.iter().map(key), &mut pages)?;
        let by_url = segment.inverted_index(self.fields.url)?;
        if self.hosts.len() * TERMS_A_LOOKUP < by_url.terms().num_terms() {
            self.look_hosts_up(&by_url, &mut pages)?;
        } else {
            self.read_all_urls(&by_url, &mut pages)?;
        }
        Ok(pages)
    }

    /// Adds the pages of hosts in a segment with many more URLs than there are hosts.
    fn look_hosts_up(
        &self,
        by_url: &InvertedIndexReader,
        pages: &mut BitSet,
    ) -> tantivy::Result<()> {
        for host in &self.hosts {
            let mut terms = by_url.terms().range().ge(host).into_stream()?;
            while terms.advance() && terms.key().starts_with(host.as_bytes()) {
                add_documents(by_url, terms.value(), pages)?;
            }
        }
        Ok(())
    }

    /// Adds the pages of hosts in a segment with few URLs, such as a new one.
    fn read_all_urls(
        &self,
        by_url: &InvertedIndexReader,
        pages: &mut BitSet,
    ) -> tantivy::Result<()> {
        let mut hosts = self.hosts.iter().map(String::as_bytes).peekable();
        let mut terms = by_url.terms().stream()?;
        while terms.advance() {
            // Both are sorted, and the URLs of a host follow each other.
            let is_before = |host: &&[u8]| *host <= terms.key() && !terms.key().starts_with(host);
            while hosts.next_if(is_before).is_some() {}
            let Some(host) = hosts.peek() else { return Ok(()) };
            if terms.key().starts_with(host) {
                add_documents(by_url, terms.value(), pages)?;
            }
        }
        Ok(())
    }
}

/// Adds the pages that have one of these terms.
fn add_terms(
    segment: &SegmentReader,
    field: Field,
    terms: impl Iterator<Item = Term>,
    pages: &mut BitSet,
) -> tantivy::Result<()> {
    let inverted = segment.inverted_index(field)?;
    for term in terms {
        if let Some(info) = inverted.get_term_info(&term)? {
            add_documents(&inverted, &info, pages)?;
        }
    }
    Ok(())
}

fn add_documents(
    inverted: &InvertedIndexReader,
    info: &tantivy::postings::TermInfo,
    pages: &mut BitSet,
) -> tantivy::Result<()> {
    let mut documents = inverted.read_postings_from_terminfo(info, IndexRecordOption::Basic)?;
    while documents.doc() != TERMINATED {
        pages.insert(documents.doc());
        documents.advance();
    }
    Ok(())
}

/// Matches what is hidden. It depends on no index, because it does not score.
#[derive(Clone)]
struct HiddenQuery(Arc<Hidden>);

impl std::fmt::Debug for HiddenQuery {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HiddenQuery").finish_non_exhaustive()
    }
}

impl Query for HiddenQuery {
    fn weight(&self, _: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        Ok(Box::new(self.clone()))
    }
}

impl Weight for HiddenQuery {
    fn scorer(&self, segment: &SegmentReader, boost: Score) -> tantivy::Result<Box<dyn Scorer>> {
        let pages = self.0.pages_of(segment)?;
        if pages.len() == 0 {
            return Ok(Box::new(EmptyScorer));
        }
        Ok(Box::new(ConstScorer::new(BitSetDocSet::from(BitSet::clone(&pages)), boost)))
    }

    fn explain(&self, segment: &SegmentReader, page: DocId) -> tantivy::Result<Explanation> {
        if self.0.pages_of(segment)?.contains(page) {
            return Ok(Explanation::new("hidden", 1.0));
        }
        Err(TantivyError::InvalidArgument(format!("document {page} is not hidden")))
    }
}
