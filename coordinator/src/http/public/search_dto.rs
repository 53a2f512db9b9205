//! Answers over the crawled pages. All text in them comes from strangers: show it, never render it.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::http::timestamp::Moment;

/// A query.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct Asked {
    /// Words, "phrases", -unwanted ones; `site:host` and `lang:xx` narrow the answer. At most 1,000
    /// bytes.
    #[param(max_length = 1000)]
    pub q: String,
    /// Most items in the answer; 10 unless told.
    #[param(minimum = 1, maximum = 500)]
    pub limit: Option<i64>,
    /// `next_cursor` of the answer before; absent for the beginning.
    #[param(max_length = 64)]
    pub cursor: Option<String>,
}

/// A piece of a snippet.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Piece {
    /// Plain text, never markup.
    pub text: String,
    /// True when it is a word of the query.
    pub hit: bool,
}

/// One found page.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct SearchItem {
    /// The page.
    pub url: String,
    /// Its title; empty when it has none.
    pub title: String,
    /// Its host.
    pub host: String,
    /// Its language, ISO 639-1 where known.
    #[schema(required = true)]
    pub lang: Option<String>,
    /// A passage that holds words of the query.
    pub snippet: Vec<Piece>,
    /// When an agent fetched it.
    pub fetched_at: Moment,
    /// How well it fits; only to be compared within one answer.
    pub score: f32,
}

/// The answer to a query.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct SearchAnswer {
    /// The query as given.
    pub query: String,
    /// How many pages fit in all.
    pub total: u64,
    /// Milliseconds the search took.
    pub took_ms: f64,
    /// The best first.
    pub items: Vec<SearchItem>,
    /// Give it as `cursor` to get what follows; null at the end.
    #[schema(required = true)]
    pub next_cursor: Option<String>,
}
