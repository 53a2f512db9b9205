//! Seeds: URLs from which the crawl starts.

use std::sync::Arc;

use axum::extract::State;
use model::CrawlUrl;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::http::authentication::Admin;
use crate::http::extract::{Json, Validate};
use crate::http::problem::{FieldError, Problem};
use crate::http::state::ApiState;
use crate::intake::seed_checks::check_seeds;
use crate::intake::seeds::add_seeds;

/// Most seeds of one request.
const SEEDS_MAX: usize = 10_000;

/// URLs from which to start.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SeedRequest {
    /// Absolute http or https URLs of at most 2,048 bytes.
    #[schema(min_items = 1, max_items = 10_000)]
    pub urls: Vec<String>,
}

impl Validate for SeedRequest {
    /// The most and the longest URLs, with their quotes and commas.
    const MOST_BYTES: Option<usize> = Some(24 << 20);

    fn errors(&self) -> Vec<FieldError> {
        if (1..=SEEDS_MAX).contains(&self.urls.len()) {
            return Vec::new();
        }
        let rule = format!("give 1 to {SEEDS_MAX} URLs, not {}", self.urls.len());
        vec![FieldError::new("urls", rule)]
    }
}

/// Number of seeds that were accepted, and the rejected ones.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct SeedResponse {
    /// Number of URLs that were queued for their agents, and that the index does not have. A URL
    /// that was given to its agent and has no page in the index is queued again.
    pub accepted: u64,
    /// Number of URLs that were in the queue or in the index before.
    pub already_known: u64,
    /// URLs that cannot be crawled, or whose host was given up lately.
    pub rejected: Vec<RejectedSeed>,
}

/// A seed that cannot be crawled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct RejectedSeed {
    /// The URL as it was sent.
    pub url: String,
    /// Why it was rejected.
    pub reason: String,
}

/// Add URLs from which the crawl starts.
#[utoipa::path(post, path = "/api/v1/seeds", operation_id = "add_seeds", tag = "seeds and policy",
    request_body = SeedRequest, security(("session" = [])),
    responses((status = 200, body = SeedResponse)))]
pub async fn add(
    admin: Admin,
    State(state): State<ApiState>,
    Json(request): Json<SeedRequest>,
) -> Result<Json<SeedResponse>, Problem> {
    let intake = &state.core.intake;
    let checked = check_seeds(intake, &request.urls).await?;
    let indexed = indexed(&state, checked.valid.clone()).await?;
    let added = add_seeds(intake, checked, &indexed, &admin.name).await?;
    let rejected = added
        .rejected
        .into_iter()
        .map(|(url, error)| RejectedSeed { url, reason: error.to_string() });
    Ok(Json(SeedResponse {
        accepted: added.accepted,
        already_known: added.already_known,
        rejected: rejected.collect(),
    }))
}

/// Those of the URLs that the index has. It is read on a thread that may block.
async fn indexed(state: &ApiState, urls: Vec<CrawlUrl>) -> Result<Vec<CrawlUrl>, Problem> {
    let index = Arc::clone(&state.core.packages.index);
    let reading = tokio::task::spawn_blocking(move || {
        let mut indexed = Vec::new();
        for url in urls {
            if index.fetched_at(url.as_str())?.is_some() {
                indexed.push(url);
            }
        }
        Ok(indexed)
    });
    let read = reading.await.map_err(|error| Problem::internal(&error))?;
    read.map_err(|error: index::SearchError| Problem::internal(&error))
}
