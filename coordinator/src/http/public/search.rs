//! Here is what somebody typed: which pages fit?

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::State;
use index::{Index, QUERY_MAX_BYTES, SearchHit, SearchResults, SnippetFragment, WINDOW_MAX};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use url::Url;

use crate::http::extract::{Json, Query};
use crate::http::paging::{bad_cursor, checked_limit, decoded, encoded};
use crate::http::problem::Problem;
use crate::http::public::search_dto::{Asked, Piece, SearchAnswer, SearchItem};
use crate::http::state::ApiState;

/// Items of an answer unless told.
const LIMIT_USUAL: i64 = 10;
/// Searches that run at the same time: anybody may search, and the crawl needs the cores too.
const AT_ONCE: usize = 8;
/// How long a search waits for its turn.
const TURN: Duration = Duration::from_secs(5);

/// Hands out the turns of searches.
#[derive(Clone)]
pub struct Turns(Arc<Semaphore>);

impl Default for Turns {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(AT_ONCE)))
    }
}

impl Turns {
    async fn take(&self) -> Result<OwnedSemaphorePermit, Problem> {
        let turn = tokio::time::timeout(TURN, Arc::clone(&self.0).acquire_owned()).await;
        let busy = || Problem::unavailable("Too many searches run at once; try again.");
        turn.ok().and_then(Result::ok).ok_or_else(busy)
    }
}

/// Search the crawled pages.
///
/// Nothing typed is an error; the best 1,000 pages can be paged through.
#[utoipa::path(get, path = "/api/v1/search", tag = "search", params(Asked),
    responses((status = 200, body = SearchAnswer)))]
pub async fn search(
    State(state): State<ApiState>,
    Query(asked): Query<Asked>,
) -> Result<Json<SearchAnswer>, Problem> {
    let Asked { q, limit, cursor } = asked;
    if q.len() > QUERY_MAX_BYTES {
        return Err(Problem::bad_parameter("q", format!("give at most {QUERY_MAX_BYTES} bytes")));
    }
    let limit = usize::try_from(checked_limit(limit, LIMIT_USUAL)?).unwrap_or(1);
    let offset = cursor.as_deref().map_or(Ok(0), offset)?;
    let began = Instant::now();
    let turn = state.turns.take().await?;
    let found = run(Arc::clone(&state.core.packages.index), turn, q.clone(), offset, limit).await?;
    let took_ms = began.elapsed().as_secs_f64() * 1_000.0;
    let next = offset + found.hits.len();
    let more = next < usize::try_from(found.total).unwrap_or(usize::MAX).min(WINDOW_MAX)
        && !found.hits.is_empty();
    let next_cursor = i64::try_from(next).ok().filter(|_| more).map(encoded);
    let items = found.hits.into_iter().map(shown).collect();
    Ok(Json(SearchAnswer { query: q, total: found.total, took_ms, items, next_cursor }))
}

/// A cursor of a search counts the items before it.
fn offset(cursor: &str) -> Result<usize, Problem> {
    let offset = decoded(cursor).and_then(|offset| usize::try_from(offset).ok());
    offset.filter(|offset| *offset < WINDOW_MAX).ok_or_else(bad_cursor)
}

async fn run(
    index: Arc<Index>,
    turn: OwnedSemaphorePermit,
    q: String,
    offset: usize,
    limit: usize,
) -> Result<SearchResults, Problem> {
    let searched = tokio::task::spawn_blocking(move || {
        // The turn ends with the work, also when nobody waits for the answer any more.
        let _turn = turn;
        index.search(&q, offset, limit)
    })
    .await;
    match searched {
        Ok(Ok(results)) => Ok(results),
        Ok(Err(error)) => Err(Problem::internal(&error)),
        Err(broken) => Err(Problem::internal(&broken)),
    }
}

fn shown(hit: SearchHit) -> SearchItem {
    let host = Url::parse(&hit.url).map(|url| url.authority().to_owned()).unwrap_or_default();
    let piece = |fragment: SnippetFragment| Piece { text: fragment.text, hit: fragment.is_match };
    SearchItem {
        host,
        url: hit.url,
        title: hit.title,
        lang: hit.lang,
        snippet: hit.snippet.into_iter().map(piece).collect(),
        fetched_at: hit.fetched_at.into(),
        score: hit.score,
    }
}
