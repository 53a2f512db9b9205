//! What the audit of the delegations found.

use axum::extract::State;

use crate::http::admin::dto::{Finding, Findings};
use crate::http::authentication::Viewer;
use crate::http::extract::Json;
use crate::http::state::ApiState;

/// What should not be: delegations that make no sense, and agents with more to do than they can.
#[utoipa::path(get, path = "/api/v1/audit/findings", operation_id = "list_findings", tag = "delegations",
    security(("session" = [])), responses((status = 200, body = Findings)))]
pub async fn findings(_viewer: Viewer, State(state): State<ApiState>) -> Json<Findings> {
    let audited = state.core.placement.last_audit.get();
    let items = audited.iter().flat_map(|audited| &audited.findings).map(|finding| Finding {
        kind: finding.as_str().to_owned(),
        sentence: finding.to_string(),
    });
    Json(Findings {
        checked_at: audited.as_ref().map(|audited| audited.at.into()),
        items: items.collect(),
    })
}
