//! One-time join tokens with which agents enrol.

use axum::extract::State;
use axum::http::StatusCode;
use model::JoinTokenId;
use protocol::join_token;
use serde::{Deserialize, Serialize};
use store::join_tokens::{self, Revocation};
use utoipa::ToSchema;

use crate::http::admin::dto::agents::AgentRef;
use crate::http::agent::tokens;
use crate::http::authentication::{Admin, Viewer};
use crate::http::extract::{Json, Path, Query, Validate};
use crate::http::paging::{Page, PageQuery};
use crate::http::problem::{FieldError, Problem};
use crate::http::state::ApiState;
use crate::http::timestamp::Timestamp;
use crate::runtime::coordinator_key;

/// A request for a join token.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct JoinTokenRequest {
    /// Name of the person or organisation that gets the token.
    #[schema(min_length = 1, max_length = 100)]
    pub name: String,
    /// Seconds until it expires, from a minute to thirty days.
    #[schema(minimum = 60, maximum = 2_592_000)]
    pub ttl_s: i64,
}

impl Validate for JoinTokenRequest {
    fn errors(&self) -> Vec<FieldError> {
        let mut errors = Vec::new();
        errors.extend(FieldError::of_line("name", &self.name, 1, 100));
        if !(60..=2_592_000).contains(&self.ttl_s) {
            errors.push(FieldError::new("ttl_s", "give 60 to 2592000 seconds"));
        }
        errors
    }
}

/// A new join token. No other response contains the token itself.
#[derive(Debug, Serialize, ToSchema)]
pub struct JoinTokenResponse {
    /// The token, valid for one enrolment.
    pub token: String,
    /// Time at which it expires.
    pub expires_at: Timestamp,
}

/// A join token without the token itself.
#[derive(Debug, Serialize, ToSchema)]
pub struct JoinToken {
    /// Identifier of the token.
    #[schema(value_type = String, example = "tok_3")]
    pub id: JoinTokenId,
    /// Name of the person or organisation that got the token.
    pub name: String,
    /// Name of the admin who made it, or who accepted the request that it comes from.
    pub created_by: String,
    /// Time at which it was made.
    pub created_at: Timestamp,
    /// Time at which it expires.
    pub expires_at: Timestamp,
    /// Time at which an agent enrolled with it; null while it is unused.
    #[schema(required = true)]
    pub used_at: Option<Timestamp>,
    /// The agent that enrolled with it; null while it is unused.
    #[schema(required = true)]
    pub used_by: Option<AgentRef>,
    /// Time at which an admin made it worthless; null otherwise.
    #[schema(required = true)]
    pub revoked_at: Option<Timestamp>,
    /// Name of that admin; null otherwise.
    #[schema(required = true)]
    pub revoked_by: Option<String>,
}

/// Create a join token, which only this response contains.
#[utoipa::path(post, path = "/api/v1/join-tokens", operation_id = "create_join_token",
    tag = "agents", request_body = JoinTokenRequest, security(("session" = [])),
    responses((status = 201, body = JoinTokenResponse)))]
pub async fn create(
    admin: Admin,
    State(state): State<ApiState>,
    Json(request): Json<JoinTokenRequest>,
) -> Result<(StatusCode, Json<JoinTokenResponse>), Problem> {
    let now = state.core.now();
    let expires_at = now.plus_ms(request.ttl_s * 1_000);
    let key = coordinator_key::load(&state.core.store).await?;
    let token = join_token::JoinToken::new(rand::random(), &key.public()).as_str().to_owned();
    let sha256 = tokens::join_token_hash(&token);
    let new = join_tokens::New {
        sha256: &sha256,
        name: request.name.trim(),
        created_by: &admin.name,
        expires_at,
    };
    join_tokens::create(&state.core.store, &new, now).await?;
    Ok((StatusCode::CREATED, Json(JoinTokenResponse { token, expires_at: expires_at.into() })))
}

/// All join tokens, the newest first, without the tokens themselves.
#[utoipa::path(get, path = "/api/v1/join-tokens", operation_id = "list_join_tokens",
    tag = "agents", params(PageQuery), security(("session" = [])),
    responses((status = 200, body = Page<JoinToken>)))]
pub async fn list(
    _viewer: Viewer,
    State(state): State<ApiState>,
    Query(page): Query<PageQuery>,
) -> Result<Json<Page<JoinToken>>, Problem> {
    let limit = page.limit()?;
    let found = join_tokens::list(&state.core.store, page.before()?, limit + 1).await?;
    Ok(Json(Page::from_rows(found, limit, |token| token.id.get()).map(JoinToken::from)))
}

/// Make an unused join token worthless.
#[utoipa::path(post, path = "/api/v1/join-tokens/{id}/revoke", operation_id = "revoke_join_token",
    tag = "agents", params(("id" = String, Path, example = "tok_3")), security(("session" = [])),
    responses((status = 204, description = "Worthless from now on")))]
pub async fn revoke(
    admin: Admin,
    State(state): State<ApiState>,
    Path(id): Path<JoinTokenId>,
) -> Result<StatusCode, Problem> {
    let core = &state.core;
    match join_tokens::revoke(&core.store, id, &admin.name, core.now()).await? {
        Revocation::Done => Ok(StatusCode::NO_CONTENT),
        Revocation::Unknown => Err(Problem::not_found(format!("There is no join token {id}."))),
        Revocation::UsedBy(agent) => Err(Problem::conflict(format!(
            "{agent} has enrolled with {id}; revoke that agent instead."
        ))),
    }
}

impl From<join_tokens::JoinToken> for JoinToken {
    fn from(token: join_tokens::JoinToken) -> Self {
        let (revoked_at, revoked_by) = token.revocation.unzip();
        Self {
            id: token.id,
            revoked_at: revoked_at.map(Into::into),
            revoked_by,
            name: token.name,
            created_by: token.created_by,
            created_at: token.created_at.into(),
            expires_at: token.expires_at.into(),
            used_at: token.used_at.map(Into::into),
            used_by: token.used_by.map(|(id, name)| AgentRef { id, name }),
        }
    }
}
