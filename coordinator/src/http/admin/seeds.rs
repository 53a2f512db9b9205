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
    /// Number of URLs that are new to the coordinator.
    pub accepted: u64,
    /// Number of URLs that were queued or crawled before.
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
    let crawled = crawled(&state, checked.valid.clone()).await?;
    let added = add_seeds(intake, checked, crawled, &admin.name).await?;
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

/// Number of URLs that the index has. It is read on a thread that may block.
async fn crawled(state: &ApiState, urls: Vec<CrawlUrl>) -> Result<u64, Problem> {
    let index = Arc::clone(&state.core.packages.index);
    let counting = tokio::task::spawn_blocking(move || {
        let mut count = 0;
        for url in urls {
            count += u64::from(index.fetched_at(url.as_str())?.is_some());
        }
        Ok(count)
    });
    let counted = counting.await.map_err(|error| Problem::internal(&error))?;
    counted.map_err(|error: index::SearchError| Problem::internal(&error))
}
