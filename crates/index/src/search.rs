//! Queries go in, ranked pages come out.

use model::UnixMillis;
use tantivy::collector::{Count, TopDocs};
use tantivy::schema::{Field, Value as _};
use tantivy::{TantivyDocument, TantivyError};

use crate::plan::plan;
use crate::room::Index;
use crate::schema::Fields;
use crate::snippet::{Lookout, Piece};
use crate::wish::Wish;

/// How many of the best pages of an answer can be paged through.
pub const WINDOW_MAX: usize = 1_000;

/// An answer to a query.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// How many pages fit.
    pub total: u64,
    /// The part that was asked for, the best first.
    pub items: Vec<Found>,
}

/// A page that fits.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// Its URL.
    pub url: String,
    /// Its title; may be empty.
    pub title: String,
    /// Its primary language, where known.
    pub lang: Option<String>,
    /// A passage of it.
    pub snippet: Vec<Piece>,
    /// When it was fetched.
    pub fetched_at: UnixMillis,
    /// How well it fits, to be compared within one answer only.
    pub score: f32,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    /// The index cannot be read.
    #[error("cannot read the index")]
    Read(#[source] TantivyError),
}

impl Index {
    /// Answers what somebody typed: at most `limit` pages after the first `offset`, within the best
    /// [`WINDOW_MAX`].
    ///
    /// A query that asks for nothing gets an empty answer.
    pub fn search(&self, query: &str, offset: usize, limit: usize) -> Result<Answer, SearchError> {
        let wish = Wish::of(query);
        let limit = limit.min(WINDOW_MAX.saturating_sub(offset));
        if wish.is_empty() || limit == 0 {
            return Ok(Answer::default());
        }
        self.answer(&wish, offset, limit).map_err(SearchError::Read)
    }

    fn answer(&self, wish: &Wish, offset: usize, limit: usize) -> tantivy::Result<Answer> {
        let searcher = self.reader.searcher();
        let best = TopDocs::with_limit(limit).and_offset(offset).order_by_score();
        let (total, best) = searcher.search(&plan(wish, &self.fields), &(Count, best))?;
        let lookout = Lookout::of(wish);
        let items = best
            .into_iter()
            .map(|(score, address)| {
                Ok(found(&searcher.doc(address)?, score, &self.fields, &lookout))
            })
            .collect::<tantivy::Result<Vec<_>>>()?;
        Ok(Answer { total: total as u64, items })
    }
}

fn found(entry: &TantivyDocument, score: f32, fields: &Fields, lookout: &Lookout) -> Found {
    let text =
        |field: Field| entry.get_first(field).and_then(|value| value.as_str()).unwrap_or_default();
    let lang = Some(text(fields.lang)).filter(|lang| !lang.is_empty());
    Found {
        url: text(fields.url).to_owned(),
        title: text(fields.title).to_owned(),
        lang: lang.map(str::to_owned),
        snippet: lookout.snippet(text(fields.body), lang),
        fetched_at: UnixMillis(
            entry.get_first(fields.fetched_at).and_then(|value| value.as_i64()).unwrap_or(0),
        ),
        score,
    }
}
