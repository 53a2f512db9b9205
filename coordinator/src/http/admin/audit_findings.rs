//! Findings of the audit of delegations.

use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::authentication::Viewer;
use crate::http::extract::Json;
use crate::http::state::ApiState;
use crate::http::timestamp::Timestamp;

/// What the last audit of the delegations found.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Findings {
    /// Time of the last audit; null before the first.
    #[schema(required = true)]
    pub checked_at: Option<Timestamp>,
    /// All findings of that audit.
    pub items: Vec<Finding>,
}

/// A rule that a delegation or an agent breaks.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Finding {
    /// `two_owners`, `inactive_agent`, `orphan`, `not_delegable`, `stale_generation` or
    /// `over_capacity`.
    pub kind: String,
    /// What is wrong and what to do, as a sentence.
    pub message: String,
}

/// Delegations that break a rule, and agents that are over their capacity.
#[utoipa::path(get, path = "/api/v1/audit/findings", operation_id = "list_findings",
    tag = "delegations", security(("session" = [])), responses((status = 200, body = Findings)))]
pub async fn list(_viewer: Viewer, State(state): State<ApiState>) -> Json<Findings> {
    let audited = state.core.placement.last_audit.load_full();
    let items = audited
        .iter()
        .flat_map(|audited| &audited.findings)
        .map(|finding| Finding { kind: finding.as_str().to_owned(), message: finding.to_string() });
    Json(Findings {
        checked_at: audited.as_ref().map(|audited| audited.at.into()),
        items: items.collect(),
    })
}
