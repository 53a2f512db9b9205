//! Packages whose ingestion failed.

use axum::extract::State;
use axum::http::StatusCode;
use model::{AgentId, LedgerPosition};
use serde::Serialize;
use serde_json::json;
use store::{audit, packages};
use utoipa::ToSchema;

use crate::http::authentication::{Admin, Viewer};
use crate::http::extract::{Json, Path, Query};
use crate::http::paging::{Page, PageQuery};
use crate::http::problem::Problem;
use crate::http::state::ApiState;
use crate::http::timestamp::Timestamp;
use crate::runtime::events::Event;

/// A package whose last ingestion failed. It is tried again until it succeeds.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct FailedPackage {
    /// Its place in the ledger of packages.
    #[schema(value_type = String, example = "pkg_12")]
    pub id: LedgerPosition,
    /// The agent that shipped it.
    #[schema(value_type = String, example = "agt_12")]
    pub agent: AgentId,
    /// Name of that agent.
    pub agent_name: String,
    /// Identifies the data directory of the agent.
    pub epoch: u64,
    /// Number of the package within the epoch.
    pub number: u64,
    /// Time at which it was received.
    pub received_at: Timestamp,
    /// Why the last attempt failed.
    pub error: String,
    /// Number of attempts that failed.
    pub attempts: u32,
    /// Time of the last attempt.
    pub failed_at: Timestamp,
    /// Time of the next attempt.
    pub retry_at: Timestamp,
}

/// Packages whose ingestion failed, the newest first. The others are ingested meanwhile.
#[utoipa::path(get, path = "/api/v1/failed-packages", operation_id = "list_failed_packages",
    tag = "overview", params(PageQuery), security(("session" = [])),
    responses((status = 200, body = Page<FailedPackage>)))]
pub async fn list(
    _viewer: Viewer,
    State(state): State<ApiState>,
    Query(page): Query<PageQuery>,
) -> Result<Json<Page<FailedPackage>>, Problem> {
    let limit = page.limit()?;
    let before = LedgerPosition::new(page.before()?);
    let found = packages::list_failed(&state.core.store, before, limit + 1).await?;
    let page = Page::from_rows(found, limit, |package| package.position.get());
    Ok(Json(page.map(to_dto)))
}

/// Try to ingest a failed package again at once.
#[utoipa::path(post, path = "/api/v1/failed-packages/{id}/retry",
    operation_id = "retry_failed_package", tag = "overview",
    params(("id" = String, Path, example = "pkg_12")), security(("session" = [])),
    responses((status = 204, description = "The next attempt is due now.")))]
pub async fn retry(
    admin: Admin,
    State(state): State<ApiState>,
    Path(id): Path<LedgerPosition>,
) -> Result<StatusCode, Problem> {
    let core = &state.core;
    if !packages::retry(&core.store, id, core.now()).await? {
        return Err(Problem::not_found(format!("There is no failed package {id}.")));
    }
    let entry = audit::Entry::new(&admin.name, "package.retry", id, json!({}));
    audit::write(&core.store, &entry, core.now()).await?;
    core.events.emit(Event::PackageReceived);
    Ok(StatusCode::NO_CONTENT)
}

fn to_dto(package: packages::FailedPackage) -> FailedPackage {
    FailedPackage {
        id: package.position,
        agent: package.agent,
        agent_name: package.agent_name,
        epoch: package.epoch,
        number: package.seq,
        received_at: package.received_at.into(),
        error: package.failure,
        attempts: package.failures,
        failed_at: package.failed_at.into(),
        retry_at: package.retry_at.into(),
    }
}
