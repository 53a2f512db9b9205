//! Here is what somebody typed: which pages fit?

use std::sync::Arc;
use std::time::Instant;

use axum::extract::State;
use index::{Found, Index, QUERY_MAX_BYTES, WINDOW_MAX};
use url::Url;

use super::body::{Asked, Piece, SearchAnswer, SearchItem};
use super::extract::{Json, Query};
use super::page::{bad_cursor, checked_limit, decoded, encoded};
use super::problem::Problem;
use super::state::ApiState;

/// Items of an answer unless told.
const LIMIT_USUAL: i64 = 10;

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
    let found = run(Arc::clone(&state.core.index), q.clone(), offset, limit).await?;
    let took_ms = began.elapsed().as_secs_f64() * 1_000.0;
    let next = offset + found.items.len();
    let more =
        next < usize::try_from(found.total).unwrap_or(usize::MAX).min(WINDOW_MAX) && !found.items.is_empty();
    let next_cursor = i64::try_from(next).ok().filter(|_| more).map(encoded);
    let items = found.items.into_iter().map(shown).collect();
    Ok(Json(SearchAnswer { query: q, total: found.total, took_ms, items, next_cursor }))
}

/// A cursor of a search counts the items before it.
fn offset(cursor: &str) -> Result<usize, Problem> {
    let offset = decoded(cursor).and_then(|offset| usize::try_from(offset).ok());
    offset.filter(|offset| *offset < WINDOW_MAX).ok_or_else(bad_cursor)
}

async fn run(index: Arc<Index>, q: String, offset: usize, limit: usize) -> Result<index::Answer, Problem> {
    let searched = tokio::task::spawn_blocking(move || index.search(&q, offset, limit)).await;
    match searched {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(error)) => Err(Problem::internal(&error)),
        Err(broken) => Err(Problem::internal(&broken)),
    }
}

fn shown(found: Found) -> SearchItem {
    let host = Url::parse(&found.url).map(|url| url.authority().to_owned()).unwrap_or_default();
    let piece = |piece: index::Piece| Piece { text: piece.text, hit: piece.hit };
    SearchItem {
        host,
        url: found.url,
        title: found.title,
        lang: found.lang,
        snippet: found.snippet.into_iter().map(piece).collect(),
        fetched_at: found.fetched_at.into(),
        score: found.score,
    }
}
