//! Statistics of the index by which BM25 weighs the words of a query.

use std::collections::HashMap;

use tantivy::query::Bm25StatisticsProvider;
use tantivy::schema::Field;
use tantivy::{Searcher, Term};

use crate::document::NO_AGENT;
use crate::query::{Query, QueryTerm};
use crate::schema::Fields;

/// How many pages there are, and how many have a term.
pub(crate) struct Statistics<'a> {
    pub(crate) searcher: &'a Searcher,
    fields: Fields,
    pages: u64,
    /// Least number of pages for the stems of a query.
    least: HashMap<Term, u64>,
}

impl<'a> Statistics<'a> {
    pub(crate) fn new(
        searcher: &'a Searcher,
        query: &Query,
        fields: &Fields,
    ) -> tantivy::Result<Self> {
        // Removals are documents without words. With them every word would seem rarer, and every
        // page longer than usual.
        let removals = searcher.doc_freq(&Term::from_field_i64(fields.agent, NO_AGENT.get()))?;
        let documents = searcher.total_num_docs()?;
        let least = least(searcher, query, fields)?;
        let fields = *fields;
        Ok(Self { searcher, fields, pages: documents.saturating_sub(removals), least })
    }
}

/// A stem is no rarer than the word itself. Otherwise each page in a language with few pages would
/// be above those in other languages, whatever its words are.
fn least(
    searcher: &Searcher,
    query: &Query,
    fields: &Fields,
) -> tantivy::Result<HashMap<Term, u64>> {
    let mut least = HashMap::new();
    for term in &query.terms {
        let QueryTerm::Word { term, stems } = term else { continue };
        let pages = searcher.doc_freq(&Term::from_field_text(fields.body, term))?;
        for stem in stems {
            let known: &mut u64 =
                least.entry(Term::from_field_text(fields.stems, stem)).or_default();
            *known = pages.max(*known);
        }
    }
    Ok(least)
}

impl Bm25StatisticsProvider for Statistics<'_> {
    fn total_num_tokens(&self, field: Field) -> tantivy::Result<u64> {
        // Most pages have no letters of unspaced scripts, so that each page with some would seem
        // long. Where there are letters, they are about as many as the words of the text.
        let is_of_letters = field == self.fields.letters;
        self.searcher.total_num_tokens(if is_of_letters { self.fields.body } else { field })
    }

    fn total_num_docs(&self) -> tantivy::Result<u64> {
        Ok(self.pages)
    }

    fn doc_freq(&self, term: &Term) -> tantivy::Result<u64> {
        let pages = self.searcher.doc_freq(term)?;
        Ok(self.least.get(term).map_or(pages, |least| pages.max(*least)))
    }
}
