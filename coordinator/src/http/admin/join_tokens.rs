//! One-time tokens with which agents enrol.

use axum::extract::State;
use axum::http::StatusCode;
use store::join_tokens;

use crate::http::admin::dto::{AgentRef, JoinToken, NewJoinToken, NewJoinTokenAnswer};
use crate::http::agent::tokens;
use crate::http::authentication::{Admin, Viewer};
use crate::http::extract::{Json, Query};
use crate::http::paging::{Page, Part};
use crate::http::problem::Problem;
use crate::http::state::ApiState;

/// Make a join token; it is shown in this answer only.
#[utoipa::path(post, path = "/api/v1/join-tokens", operation_id = "create_join_token", tag = "agents",
    request_body = NewJoinToken, security(("session" = [])),
    responses((status = 201, body = NewJoinTokenAnswer)))]
pub async fn create(
    admin: Admin,
    State(state): State<ApiState>,
    Json(wish): Json<NewJoinToken>,
) -> Result<(StatusCode, Json<NewJoinTokenAnswer>), Problem> {
    let now = state.core.now();
    let expires_at = now.plus_ms(wish.ttl_s * 1_000);
    let token = tokens::new_join_token(rand::random());
    let sha256 = tokens::join_token_hash(&token);
    let new = join_tokens::New {
        sha256: &sha256,
        name: wish.name.trim(),
        created_by: &admin.name,
        expires_at,
    };
    join_tokens::create(&state.core.store, &new, now).await?;
    Ok((StatusCode::CREATED, Json(NewJoinTokenAnswer { token, expires_at: expires_at.into() })))
}

/// All join tokens, the newest first, without the tokens themselves.
#[utoipa::path(get, path = "/api/v1/join-tokens", operation_id = "list_join_tokens", tag = "agents",
    params(Part), security(("session" = [])), responses((status = 200, body = Page<JoinToken>)))]
pub async fn list(
    _viewer: Viewer,
    State(state): State<ApiState>,
    Query(part): Query<Part>,
) -> Result<Json<Page<JoinToken>>, Problem> {
    let (before, limit) = (part.before()?, part.limit()?);
    let found = join_tokens::list(&state.core.store, before, limit + 1).await?;
    Ok(Json(Page::cut(found, limit, |token| token.id).map(shown)))
}

fn shown(token: join_tokens::JoinToken) -> JoinToken {
    JoinToken {
        id: format!("tok_{}", token.id),
        name: token.name,
        created_by: token.created_by,
        created_at: token.created_at.into(),
        expires_at: token.expires_at.into(),
        used_at: token.used_at.map(Into::into),
        used_by: token.used_by.map(|(id, name)| AgentRef { id, name }),
    }
}
