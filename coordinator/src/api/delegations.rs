//! Who crawls what, and why.

use axum::extract::State;
use serde::Deserialize;
use utoipa::IntoParams;

use super::auth::Admin;
use super::body::{Delegation, Reason, Why};
use super::extract::{Json, Path, Query};
use super::page::Page;
use super::problem::Problem;
use super::state::ApiState;

/// Which delegations are wanted.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct Wanted {
    /// Those of this agent only.
    #[param(example = "agt_12", max_length = 32)]
    pub agent: Option<String>,
    /// Those made for this reason only.
    #[param(inline)]
    pub reason: Option<Reason>,
    /// An address or subnet inside, a host, a two-letter country, or a part of a company's or agent's name.
    #[param(max_length = 200)]
    pub q: Option<String>,
    /// Most items in the answer; 50 unless told.
    #[param(minimum = 1, maximum = 500)]
    pub limit: Option<i64>,
    /// `next_cursor` of the answer before; absent for the beginning.
    #[param(max_length = 64)]
    pub cursor: Option<String>,
}

/// All delegations that stand, the newest first.
#[utoipa::path(get, path = "/api/v1/delegations", operation_id = "list_delegations", tag = "delegations",
    params(Wanted), security(("session" = [])), responses((status = 200, body = Page<Delegation>)))]
pub async fn list(
    _admin: Admin,
    State(_state): State<ApiState>,
    Query(_wanted): Query<Wanted>,
) -> Result<Json<Page<Delegation>>, Problem> {
    Err(Problem::unavailable("soon"))
}

/// One delegation.
#[utoipa::path(get, path = "/api/v1/delegations/{id}", operation_id = "get_delegation", tag = "delegations",
    params(("id" = String, Path, example = "dlg_7")), security(("session" = [])),
    responses((status = 200, body = Delegation)))]
pub async fn one(
    _admin: Admin,
    State(_state): State<ApiState>,
    Path(_id): Path<String>,
) -> Result<Json<Delegation>, Problem> {
    Err(Problem::unavailable("soon"))
}

/// Why a subnet is delegated to its agent: the whole search, probe by probe.
#[utoipa::path(get, path = "/api/v1/delegations/{id}/why", operation_id = "why_delegation",
    tag = "delegations", params(("id" = String, Path, example = "dlg_7")), security(("session" = [])),
    responses((status = 200, body = Why)))]
pub async fn why(
    _admin: Admin,
    State(_state): State<ApiState>,
    Path(_id): Path<String>,
) -> Result<Json<Why>, Problem> {
    Err(Problem::unavailable("soon"))
}
