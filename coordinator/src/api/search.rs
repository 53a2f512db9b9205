//! Here is what somebody typed: which pages fit?

use axum::extract::State;
use serde::Deserialize;
use utoipa::IntoParams;

use super::body::SearchAnswer;
use super::extract::{Json, Query};
use super::problem::Problem;
use super::state::ApiState;

/// A query.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct Asked {
    /// Words, "phrases", -unwanted ones; `site:host` and `lang:xx` narrow the answer.
    #[param(max_length = 1000)]
    pub q: String,
    /// Most items in the answer; 10 unless told.
    #[param(minimum = 1, maximum = 500)]
    pub limit: Option<i64>,
    /// `next_cursor` of the answer before; absent for the beginning.
    #[param(max_length = 64)]
    pub cursor: Option<String>,
}

/// Search the crawled pages.
#[utoipa::path(get, path = "/api/v1/search", tag = "search", params(Asked),
    responses((status = 200, body = SearchAnswer)))]
pub async fn search(
    State(_state): State<ApiState>,
    Query(_asked): Query<Asked>,
) -> Result<Json<SearchAnswer>, Problem> {
    Err(Problem::unavailable("soon"))
}
