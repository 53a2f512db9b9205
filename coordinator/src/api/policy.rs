//! The settings that admins may change while everything runs.

use axum::extract::State;
use serde_json::json;
use store::{audit, policy};

use super::auth::{Admin, Viewer};
use super::body::Policy;
use super::extract::Json;
use super::problem::Problem;
use super::state::ApiState;
use crate::ruling;

/// The policy in force.
#[utoipa::path(get, path = "/api/v1/policy", operation_id = "get_policy", tag = "work",
    security(("session" = [])), responses((status = 200, body = Policy)))]
pub async fn read(_viewer: Viewer, State(state): State<ApiState>) -> Result<Json<Policy>, Problem> {
    Ok(Json(shown(&policy::read(&state.core.store).await?)))
}

/// Change the policy; the threshold holds for searches opened from now on, the rest at once.
#[utoipa::path(put, path = "/api/v1/policy", operation_id = "put_policy", tag = "work",
    request_body = Policy, security(("session" = [])), responses((status = 200, body = Policy)))]
pub async fn write(
    admin: Admin,
    State(state): State<ApiState>,
    Json(wish): Json<Policy>,
) -> Result<Json<Policy>, Problem> {
    let core = &state.core;
    let before = policy::read(&core.store).await?;
    let mut after = before;
    after.threshold_us = wish.threshold_ms * 1_000;
    after.patience_ms = wish.patience_s * 1_000;
    after.crawl.host_delay_ms = wish.host_delay_ms;
    if let Some(calibration) = wish.calibration {
        after.calibration = calibration.into();
    }
    // The entry comes first: a change without one must not be.
    let detail = json!({ "before": shown(&before), "after": wish });
    let entry =
        audit::Entry { actor: &admin.name, action: "policy.change", subject: "policy", detail: &detail };
    audit::write(&core.store, &entry, core.now()).await?;
    ruling::change(core, after).await?;
    Ok(Json(shown(&after)))
}

/// Whole milliseconds and seconds, rounded up: what is shown may be sent back.
fn shown(policy: &policy::Policy) -> Policy {
    Policy {
        threshold_ms: policy.threshold_us.div_ceil(1_000),
        patience_s: policy.patience_ms.div_ceil(1_000),
        host_delay_ms: policy.crawl.host_delay_ms,
        calibration: Some(policy.calibration.into()),
    }
}
