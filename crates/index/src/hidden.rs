//! Pages that searches leave out.

use std::sync::Arc;

use tantivy::query::{EnableScoring, Explanation, Query, Scorer, TermSetQuery, Weight};
use tantivy::{DocId, Score, SegmentReader, TantivyError, Term};

use crate::schema::schema;

/// Sites and pages that searches leave out. It is built once and used by many searches, because
/// thousands of entries take milliseconds to build.
#[derive(Clone, Default)]
pub struct HiddenPages(Option<Arc<dyn Weight>>);

impl HiddenPages {
    /// All pages of these hosts and domains, as `site:` names them, and the pages with these URLs.
    pub fn new<'a>(
        sites: impl IntoIterator<Item = &'a str>,
        urls: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, TantivyError> {
        let (schema, fields) = schema();
        let mut terms: Vec<Term> = Vec::new();
        for site in sites {
            terms.push(Term::from_field_text(fields.site, site));
            // A URL may spell the name of its host with a dot at the end.
            terms.push(Term::from_field_text(fields.site, &format!("{site}.")));
        }
        terms.extend(urls.into_iter().map(|url| Term::from_field_text(fields.url, url)));
        if terms.is_empty() {
            return Ok(Self::default());
        }
        let scoring = EnableScoring::disabled_from_schema(&schema);
        Ok(Self(Some(TermSetQuery::new(terms).weight(scoring)?.into())))
    }

    /// Matches the pages; none when nothing is hidden.
    pub(crate) fn query(&self) -> Option<Box<dyn Query>> {
        Some(Box::new(BuiltQuery(Arc::clone(self.0.as_ref()?))))
    }
}

impl std::fmt::Debug for HiddenPages {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HiddenPages").field("is_empty", &self.0.is_none()).finish_non_exhaustive()
    }
}

/// A query that has been built already. It depends on no index, because it does not score.
#[derive(Clone)]
struct BuiltQuery(Arc<dyn Weight>);

impl std::fmt::Debug for BuiltQuery {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BuiltQuery").finish_non_exhaustive()
    }
}

impl Query for BuiltQuery {
    fn weight(&self, _: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        Ok(Box::new(self.clone()))
    }
}

impl Weight for BuiltQuery {
    fn scorer(&self, segment: &SegmentReader, boost: Score) -> tantivy::Result<Box<dyn Scorer>> {
        self.0.scorer(segment, boost)
    }

    fn explain(&self, segment: &SegmentReader, page: DocId) -> tantivy::Result<Explanation> {
        self.0.explain(segment, page)
    }
}
