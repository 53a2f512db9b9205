//! What an agent discovered, by day.

use axum::extract::State;
use model::AgentId;
use serde::Serialize;
use store::{agents, discovery};
use utoipa::ToSchema;

use crate::http::admin::agents::unknown;
use crate::http::authentication::Viewer;
use crate::http::extract::{Json, Path};
use crate::http::problem::Problem;
use crate::http::state::ApiState;

/// What an agent discovered.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Discovery {
    /// The last 31 days on which it discovered anything, the newest first.
    pub days: Vec<DiscoveryDay>,
}

/// What an agent discovered on one day.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct DiscoveryDay {
    /// The day, which begins at midnight UTC.
    #[schema(format = Date, example = "2018-10-13")]
    pub day: String,
    /// Number of URLs that were queued.
    pub urls: u64,
    /// Number of hosts that were new.
    pub new_hosts: u64,
    /// Number of URLs that a quota of the policy refused.
    pub refused_urls: u64,
}

/// What an agent discovered, by day.
#[utoipa::path(get, path = "/api/v1/agents/{id}/discovery", operation_id = "get_agent_discovery",
    tag = "agents", params(("id" = String, Path, example = "agt_12")),
    security(("session" = [])), responses((status = 200, body = Discovery)))]
pub async fn get(
    _viewer: Viewer,
    State(state): State<ApiState>,
    Path(id): Path<AgentId>,
) -> Result<Json<Discovery>, Problem> {
    let store = &state.core.store;
    if agents::home(store, id).await?.is_none() {
        return Err(unknown(id));
    }
    let to_dto = |day: discovery::DiscoveryDay| DiscoveryDay {
        day: day.day,
        urls: day.urls.unsigned_abs(),
        new_hosts: day.hosts.unsigned_abs(),
        refused_urls: day.refused.unsigned_abs(),
    };
    let days = discovery::days(store, id).await?;
    Ok(Json(Discovery { days: days.into_iter().map(to_dto).collect() }))
}
