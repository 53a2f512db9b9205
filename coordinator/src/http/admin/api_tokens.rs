//! API tokens: with which scripts use the API in the name of an account.

use axum::extract::State;
use axum::http::StatusCode;
use data_encoding::BASE64URL_NOPAD;
use model::{AccountId, ApiTokenId, DAY_MS, Role, UnixMillis};
use serde::{Deserialize, Serialize};
use store::{Store, StoreError, admins, api_tokens};
use utoipa::ToSchema;

use crate::http::authentication::{ApiToken as Secret, Person, Viewer};
use crate::http::extract::{Json, Path, Query, Validate};
use crate::http::paging::{Page, PageQuery};
use crate::http::problem::{FieldError, Problem};
use crate::http::state::ApiState;
use crate::http::timestamp::Timestamp;

/// Longest lifetime of a token, in days.
pub const DAYS_MAX: u32 = 3_650;

/// A token without the token itself.
#[derive(Debug, Serialize, ToSchema)]
pub struct ApiToken {
    /// Identifier of the token.
    #[schema(value_type = String, example = "apt_3")]
    pub id: ApiTokenId,
    /// What it is for.
    pub name: String,
    /// What it permits; a viewer's account never gets more than a viewer's token permits.
    pub scope: Role,
    /// Identifier of the account in whose name it works.
    #[schema(value_type = String, example = "acc_3")]
    pub account: AccountId,
    /// Name of that account.
    pub account_name: String,
    /// Time at which it was made.
    pub created_at: Timestamp,
    /// Time at which it expires; null for never.
    #[schema(required = true)]
    pub expires_at: Option<Timestamp>,
    /// Time of its last use, to the minute; null before the first.
    #[schema(required = true)]
    pub last_used_at: Option<Timestamp>,
}

impl From<api_tokens::ApiToken> for ApiToken {
    fn from(token: api_tokens::ApiToken) -> Self {
        Self {
            id: token.id,
            name: token.name,
            scope: token.scope,
            account: token.account,
            account_name: token.account_name,
            created_at: token.created_at.into(),
            expires_at: token.expires_at.map(Into::into),
            last_used_at: token.used_at.map(Into::into),
        }
    }
}

/// A request for an API token of the own account.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewApiToken {
    /// What it is for, such as the name of a script.
    #[schema(min_length = 1, max_length = 100)]
    pub name: String,
    /// What it permits.
    pub scope: Role,
    /// Days until it expires; absent or null for never.
    #[schema(minimum = 1, maximum = 3650)]
    #[serde(default)]
    pub days: Option<u32>,
}

impl Validate for NewApiToken {
    fn errors(&self) -> Vec<FieldError> {
        let mut errors = Vec::new();
        errors.extend(FieldError::of_line("name", &self.name, 1, 100));
        if self.days.is_some_and(|days| !(1..=DAYS_MAX).contains(&days)) {
            errors.push(FieldError::new("days", format!("give 1 to {DAYS_MAX} days, or none")));
        }
        errors
    }
}

/// A new API token. No other response contains the token itself.
#[derive(Debug, Serialize, ToSchema)]
pub struct CreatedApiToken {
    /// Identifier of the token.
    #[schema(value_type = String, example = "apt_3")]
    pub id: ApiTokenId,
    /// The token, to be sent as `Authorization: Bearer TOKEN`.
    pub token: String,
}

/// A token as text: the prefix makes it recognisable where it was leaked.
pub fn new_token() -> Secret {
    Secret::new(format!("ncapi_{}", BASE64URL_NOPAD.encode(&rand::random::<[u8; 32]>())))
}

/// Makes a token of an account.
pub async fn issue(
    store: &Store,
    new: &NewApiToken,
    account: AccountId,
    actor: &str,
    now: UnixMillis,
) -> Result<(ApiTokenId, Secret), StoreError> {
    let secret = new_token();
    let sha256 = secret.sha256();
    let made = api_tokens::New {
        sha256: &sha256,
        name: new.name.trim(),
        scope: new.scope,
        account,
        expires_at: new.days.map(|days| now.plus_ms(i64::from(days) * DAY_MS)),
    };
    let id = api_tokens::create(store, &made, actor, now).await?;
    Ok((id, secret))
}

/// All API tokens, the newest first; viewers see their own.
#[utoipa::path(get, path = "/api/v1/api-tokens", operation_id = "list_api_tokens",
    tag = "accounts", params(PageQuery), security(("session" = [])),
    responses((status = 200, body = Page<ApiToken>)))]
pub async fn list(
    viewer: Viewer,
    State(state): State<ApiState>,
    Query(page): Query<PageQuery>,
) -> Result<Json<Page<ApiToken>>, Problem> {
    let limit = page.limit()?;
    let owner = (viewer.role != Role::Admin).then_some(viewer.account.as_str());
    let found = api_tokens::list(&state.core.store, owner, page.before()?, limit + 1).await?;
    Ok(Json(Page::from_rows(found, limit, |token| token.id.get()).map(ApiToken::from)))
}

/// Make an API token for the own account. Only a person can, not a script with a token.
#[utoipa::path(post, path = "/api/v1/api-tokens", operation_id = "create_api_token",
    tag = "accounts", request_body = NewApiToken, security(("session" = [])),
    responses((status = 201, body = CreatedApiToken)))]
pub async fn create(
    person: Person,
    State(state): State<ApiState>,
    Json(new): Json<NewApiToken>,
) -> Result<(StatusCode, Json<CreatedApiToken>), Problem> {
    if new.scope == Role::Admin && person.role != Role::Admin {
        let error = FieldError::new("scope", "your account is a viewer: give viewer");
        return Err(Problem::invalid(vec![error]));
    }
    let core = &state.core;
    let account = admins::find(&core.store, &person.name).await?;
    let account = account.ok_or_else(Problem::unauthorized)?;
    let (id, secret) = issue(&core.store, &new, account.id, &person.name, core.now()).await?;
    Ok((StatusCode::CREATED, Json(CreatedApiToken { id, token: secret.text().to_owned() })))
}

/// Revoke an API token: one of the own account, or any as an admin.
#[utoipa::path(delete, path = "/api/v1/api-tokens/{id}", operation_id = "revoke_api_token",
    tag = "accounts", params(("id" = String, Path, example = "apt_3")),
    security(("session" = [])), responses((status = 204, description = "Revoked")))]
pub async fn revoke(
    viewer: Viewer,
    State(state): State<ApiState>,
    Path(id): Path<ApiTokenId>,
) -> Result<StatusCode, Problem> {
    let owner = (viewer.role != Role::Admin).then_some(viewer.account.as_str());
    let core = &state.core;
    if api_tokens::revoke(&core.store, id, owner, &viewer.name, core.now()).await? {
        Ok(StatusCode::NO_CONTENT)
    } else {
        Err(Problem::not_found(format!("There is no API token {id} that you may revoke.")))
    }
}
