//! URLs to begin from.

use axum::extract::State;
use serde_json::json;
use store::audit;

use crate::http::admin::dto::{Rejected, Seeds, SeedsAnswer};
use crate::http::authentication::Admin;
use crate::http::extract::Json;
use crate::http::problem::Problem;
use crate::http::state::ApiState;
use crate::intake::seeds::add_seeds as queue;

/// Give URLs to begin from.
#[utoipa::path(post, path = "/api/v1/seeds", operation_id = "add_seeds", tag = "work",
    request_body = Seeds, security(("session" = [])), responses((status = 200, body = SeedsAnswer)))]
pub async fn add_seeds(
    admin: Admin,
    State(state): State<ApiState>,
    Json(seeds): Json<Seeds>,
) -> Result<Json<SeedsAnswer>, Problem> {
    let core = &state.core;
    let sown = queue(&core.intake, &seeds.urls).await?;
    let detail = json!({
        "accepted": sown.accepted, "already_known": sown.already_known, "rejected": sown.rejected.len(),
        "first": seeds.urls.first(),
    });
    let entry =
        audit::Entry { actor: &admin.name, action: "seeds.add", subject: "seeds", detail: &detail };
    audit::write(&core.store, &entry, core.now()).await?;
    let rejected =
        sown.rejected.into_iter().map(|(url, why)| Rejected { url, reason: why.to_string() });
    Ok(Json(SeedsAnswer {
        accepted: sown.accepted,
        already_known: sown.already_known,
        rejected: rejected.collect(),
    }))
}
