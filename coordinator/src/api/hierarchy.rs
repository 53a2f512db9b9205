//! Here is an address: where does it lie?

use axum::extract::State;

use super::auth::Admin;
use super::body::HierarchyAnswer;
use super::extract::{Json, Path};
use super::problem::Problem;
use super::state::ApiState;

/// Where an address lies: from the root to its smallest subnet.
#[utoipa::path(get, path = "/api/v1/hierarchy/{address}", operation_id = "locate_address",
    tag = "delegations", params(("address" = String, Path, example = "41.0.0.1")),
    security(("session" = [])), responses((status = 200, body = HierarchyAnswer)))]
pub async fn locate(
    _admin: Admin,
    State(_state): State<ApiState>,
    Path(_address): Path<String>,
) -> Result<Json<HierarchyAnswer>, Problem> {
    Err(Problem::unavailable("soon"))
}
