//! Request and response types of the public search.
//!
//! All text in the results was written by strangers: clients must show it and never render it.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::http::timestamp::Timestamp;

/// What a person typed, and the page of results.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct SearchQuery {
    /// Words, "phrases", -excluded words; `site:host` and `lang:xx` narrow the search. At most
    /// 1,000 bytes.
    #[param(max_length = 1000)]
    pub q: String,
    /// Most items in the response; 10 by default.
    #[param(minimum = 1, maximum = 500)]
    pub limit: Option<i64>,
    /// `next_cursor` of the previous page; absent for the first page.
    #[param(max_length = 64)]
    pub cursor: Option<String>,
}

/// A page of search results.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct SearchResponse {
    /// The query as it was sent.
    pub query: String,
    /// Number of pages that match, copies of others included.
    pub total: u64,
    /// Duration of the search, in milliseconds.
    pub took_ms: f64,
    /// The results, the best first.
    pub items: Vec<SearchResult>,
    /// Give it as `cursor` to get the next page; null on the last page.
    #[schema(required = true)]
    pub next_cursor: Option<String>,
}

/// One page that matches a query.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct SearchResult {
    /// Address of the page.
    pub url: String,
    /// Up to five other addresses of the site with the same title and text.
    pub copies: Vec<String>,
    /// Title of the page; empty when it has none.
    pub title: String,
    /// Authority of the address.
    pub host: String,
    /// Language of the page, ISO 639-1; null when unknown.
    #[schema(required = true)]
    pub lang: Option<String>,
    /// A passage with words of the query, as long as the page allows; may be empty.
    pub snippet: Vec<SnippetPart>,
    /// Time at which an agent fetched this text; visits that found it unchanged do not count.
    pub fetched_at: Timestamp,
    /// Relevance, comparable only within one response.
    pub score: f32,
}

/// A part of a snippet.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct SnippetPart {
    /// Plain text, never markup.
    pub text: String,
    /// True when the text is a word of the query.
    pub hit: bool,
}
