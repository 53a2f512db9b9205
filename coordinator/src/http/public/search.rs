//! Public search over the crawled pages.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::State;
use index::{
    HiddenPages, Index, QUERY_MAX_BYTES, SearchError, SearchHit, SearchResults, SnippetFragment,
    WINDOW_MAX,
};
use url::Url;

use crate::http::admin::session::ClientAddress;
use crate::http::client_slots::ClientSlot;
use crate::http::concurrency_limit::WAIT;
use crate::http::extract::{Json, Query};
use crate::http::paging::{bad_cursor, checked_limit, decode_cursor, encode_cursor};
use crate::http::problem::Problem;
use crate::http::public::dto::{SearchQuery, SearchResponse, SearchResult, SnippetPart};
use crate::http::state::ApiState;

/// Results of a page unless the request names a limit.
const LIMIT_DEFAULT: i64 = 10;
/// Longest time that a search runs.
const LONGEST: Duration = Duration::from_secs(5);

/// Search the crawled pages.
///
/// Every text is a valid query. The best 1,000 pages can be paged through. Pages of one site with
/// the same title and text are one result.
#[utoipa::path(get, path = "/api/v1/search", operation_id = "search_pages", tag = "public search",
    params(SearchQuery), responses((status = 200, body = SearchResponse)))]
pub async fn search(
    State(state): State<ApiState>,
    ClientAddress(client): ClientAddress,
    Query(query): Query<SearchQuery>,
) -> Result<Json<SearchResponse>, Problem> {
    let SearchQuery { q, limit, cursor } = query;
    if q.len() > QUERY_MAX_BYTES {
        return Err(Problem::bad_parameter("q", format!("give at most {QUERY_MAX_BYTES} bytes")));
    }
    let limit = usize::try_from(checked_limit(limit, LIMIT_DEFAULT)?).unwrap_or(1);
    let offset = cursor.as_deref().map_or(Ok(0), decode_offset)?;
    let started = Instant::now();
    let slot = state.searches.begin(client, WAIT).await;
    let slot =
        slot.ok_or_else(|| Problem::unavailable("Too many searches run at once; try again."))?;
    let hidden = [state.core.hidden_pages.load(), state.core.silent_hosts.load()];
    let search = Search { q: q.clone(), hidden, offset, limit };
    let found = run(Arc::clone(&state.core.packages.index), slot, search).await?;
    let took_ms = started.elapsed().as_secs_f64() * 1_000.0;
    let next = offset + found.hits.len();
    let more = found.has_more && next < WINDOW_MAX;
    let next_cursor = i64::try_from(next).ok().filter(|_| more).map(encode_cursor);
    let items = found.hits.into_iter().map(SearchResult::from).collect();
    Ok(Json(SearchResponse { query: q, total: found.total, took_ms, items, next_cursor }))
}

/// The cursor of a search is the number of results before the page.
fn decode_offset(cursor: &str) -> Result<usize, Problem> {
    let offset = usize::try_from(decode_cursor(cursor)?).ok();
    offset.filter(|offset| *offset < WINDOW_MAX).ok_or_else(bad_cursor)
}

/// A search for the hits of one page.
struct Search {
    q: String,
    hidden: [HiddenPages; 2],
    offset: usize,
    limit: usize,
}

async fn run(
    index: Arc<Index>,
    slot: ClientSlot,
    search: Search,
) -> Result<SearchResults, Problem> {
    let searched = tokio::task::spawn_blocking(move || {
        // The slot ends with the work, also when the client has given up waiting.
        let _slot = slot;
        let Search { q, hidden, offset, limit } = search;
        index.search(Instant::now() + LONGEST, &hidden, &q, offset, limit)
    })
    .await;
    match searched {
        Ok(Ok(results)) => Ok(results),
        Ok(Err(SearchError::TooLong)) => {
            Err(Problem::unavailable("The search took too long; give fewer words, or try again."))
        }
        Ok(Err(error)) => Err(Problem::internal(&error)),
        Err(broken) => Err(Problem::internal(&broken)),
    }
}

impl From<SearchHit> for SearchResult {
    fn from(hit: SearchHit) -> Self {
        let host = Url::parse(&hit.url).map(|url| url.authority().to_owned()).unwrap_or_default();
        let part =
            |fragment: SnippetFragment| SnippetPart { text: fragment.text, hit: fragment.is_match };
        Self {
            host,
            url: hit.url,
            copies: hit.copies,
            title: hit.title,
            lang: hit.lang,
            snippet: hit.snippet.into_iter().map(part).collect(),
            fetched_at: hit.fetched_at.into(),
            score: hit.score,
        }
    }
}
