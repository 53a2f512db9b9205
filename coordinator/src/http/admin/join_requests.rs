//! Requests of partners to host an agent, as admins see and decide them.

use axum::extract::State;
use data_encoding::BASE64URL_NOPAD;
use model::JoinRequestId;
use store::join_requests::{self, Decision, NewSecret};

use crate::http::admin::dto::join_requests::{
    AcceptedJoinRequest, JoinRequest, JoinRequestQuery, ShownState,
};
use crate::http::authentication::{Admin, Viewer};
use crate::http::extract::{Json, Path, Query};
use crate::http::paging::{Page, PageQuery};
use crate::http::problem::Problem;
use crate::http::public::invitations::secret_hash;
use crate::http::state::ApiState;

/// Lifetime of a one-time link, in milliseconds: 14 days.
const INVITATION_MS: i64 = 14 * 24 * 60 * 60 * 1_000;

/// Requests to host an agent, the newest first. They are kept for 90 days.
#[utoipa::path(get, path = "/api/v1/join-requests", operation_id = "list_join_requests",
    tag = "joining", params(JoinRequestQuery), security(("session" = [])),
    responses((status = 200, body = Page<JoinRequest>)))]
pub async fn list(
    _viewer: Viewer,
    State(state): State<ApiState>,
    Query(query): Query<JoinRequestQuery>,
) -> Result<Json<Page<JoinRequest>>, Problem> {
    let page = PageQuery { limit: query.limit, cursor: query.cursor };
    let limit = page.limit()?;
    let found =
        join_requests::list(&state.core.store, query.state, page.before()?, limit + 1).await?;
    Ok(Json(Page::from_rows(found, limit, |request| request.id.get()).map(JoinRequest::from)))
}

/// Accept a request, or make a new link for an accepted one; earlier links become worthless.
#[utoipa::path(post, path = "/api/v1/join-requests/{id}/accept",
    operation_id = "accept_join_request", tag = "joining",
    params(("id" = String, Path, example = "jrq_3"), ShownState), security(("session" = [])),
    responses((status = 200, body = AcceptedJoinRequest)))]
pub async fn accept(
    admin: Admin,
    State(state): State<ApiState>,
    Path(id): Path<JoinRequestId>,
    Query(ShownState { shown }): Query<ShownState>,
) -> Result<Json<AcceptedJoinRequest>, Problem> {
    let core = &state.core;
    let now = core.now();
    let secret = BASE64URL_NOPAD.encode(&rand::random::<[u8; 24]>());
    let sha256 = secret_hash(&secret);
    let link = NewSecret { sha256: &sha256, expires_at: now.plus_ms(INVITATION_MS) };
    let by = &admin.name;
    let decision = join_requests::decide(&core.store, id, shown, Some(link), by, now).await?;
    let request = decided(&state, id, decision).await?;
    Ok(Json(AcceptedJoinRequest { request, path: format!("/invitation#{secret}") }))
}

/// Decline a request; its link and its unused token become worthless.
#[utoipa::path(post, path = "/api/v1/join-requests/{id}/decline",
    operation_id = "decline_join_request", tag = "joining",
    params(("id" = String, Path, example = "jrq_3"), ShownState), security(("session" = [])),
    responses((status = 200, body = JoinRequest)))]
pub async fn decline(
    admin: Admin,
    State(state): State<ApiState>,
    Path(id): Path<JoinRequestId>,
    Query(ShownState { shown }): Query<ShownState>,
) -> Result<Json<JoinRequest>, Problem> {
    let core = &state.core;
    let by = &admin.name;
    let decision = join_requests::decide(&core.store, id, shown, None, by, core.now()).await?;
    Ok(Json(decided(&state, id, decision).await?))
}

async fn decided(
    state: &ApiState,
    id: JoinRequestId,
    decision: Decision,
) -> Result<JoinRequest, Problem> {
    let unknown = || Problem::not_found(format!("There is no request {id}."));
    match decision {
        Decision::Unknown => Err(unknown()),
        Decision::Joined => Err(Problem::conflict(format!(
            "An agent has joined with {id} already; pause or revoke that agent."
        ))),
        Decision::Decided(state) => Err(Problem::conflict(format!(
            "{id} is {} by now: somebody else decided. Look at it again.",
            state.as_str()
        ))),
        Decision::Done => {
            let found = join_requests::find(&state.core.store, id).await?;
            found.map(JoinRequest::from).ok_or_else(unknown)
        }
    }
}
