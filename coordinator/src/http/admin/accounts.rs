//! Accounts: the people who may sign in, and what they may do.

use axum::extract::State;
use axum::http::StatusCode;
use model::{AccountId, Role};
use serde::{Deserialize, Serialize};
use store::admins::{self, Change, Outcome};
use utoipa::ToSchema;

use crate::http::admin::password::{PASSWORD_MAX, PASSWORD_MIN};
use crate::http::authentication::{AdminInPerson, Viewer};
use crate::http::extract::{Json, Path, Query, Validate};
use crate::http::paging::{Page, PageQuery};
use crate::http::problem::{FieldError, Problem};
use crate::http::state::ApiState;
use crate::http::timestamp::Timestamp;

/// Actors in the audit log that are no accounts: the coordinator, owners of agents, and partners
/// who open the link of an accepted request. No person may have these names.
const RESERVED: [&str; 3] = ["coordinator", "owner", "partner"];

/// A person who may sign in.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Account {
    /// Identifier of the account.
    #[schema(value_type = String, example = "acc_3")]
    pub id: AccountId,
    /// Name with which the person signs in.
    pub name: String,
    /// What the person may do.
    pub role: Role,
    /// Time at which it was created.
    pub created_at: Timestamp,
    /// Last use of a session that is still open; null without one.
    #[schema(required = true)]
    pub last_seen_at: Option<Timestamp>,
}

impl From<admins::Account> for Account {
    fn from(account: admins::Account) -> Self {
        Self {
            id: account.id,
            name: account.name,
            role: account.role,
            created_at: account.created_at.into(),
            last_seen_at: account.seen_at.map(Into::into),
        }
    }
}

/// A new account.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewAccount {
    /// Name with which the person signs in; unique.
    #[schema(min_length = 1, max_length = 100)]
    pub name: String,
    /// What the person may do.
    pub role: Role,
    /// First password; the person should change it.
    #[schema(min_length = 12, max_length = 256, format = Password)]
    pub password: String,
}

impl Validate for NewAccount {
    fn errors(&self) -> Vec<FieldError> {
        let mut errors: Vec<FieldError> = name_error(&self.name).into_iter().collect();
        errors.extend(password_error("password", &self.password));
        errors
    }
}

/// The rule that a name of an account breaks.
pub fn name_error(name: &str) -> Option<FieldError> {
    let is_usable = (1..=100).contains(&name.chars().count())
        && name.trim() == name
        && !name.chars().any(char::is_control)
        && !RESERVED.contains(&name);
    let rule = "give 1 to 100 characters without control characters and without blanks at either \
                end; the names coordinator, owner and partner are reserved";
    (!is_usable).then(|| FieldError::new("name", rule))
}

/// The rule that a new password breaks.
pub fn password_error(field: &str, password: &str) -> Option<FieldError> {
    let count = password.chars().count();
    let rule = match count {
        0..PASSWORD_MIN => format!(
            "too short with {count} characters: give at least {PASSWORD_MIN}, for example four \
             random words"
        ),
        PASSWORD_MIN..=PASSWORD_MAX => return None,
        _ => format!("too long with {count} characters: give at most {PASSWORD_MAX}"),
    };
    Some(FieldError::new(field, rule))
}

/// A request for another role.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RoleChange {
    /// What the person may do from now on.
    pub role: Role,
}

impl Validate for RoleChange {
    fn errors(&self) -> Vec<FieldError> {
        Vec::new()
    }
}

/// A request for another password.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PasswordReset {
    /// The new password.
    #[schema(min_length = 12, max_length = 256, format = Password)]
    pub password: String,
}

impl Validate for PasswordReset {
    fn errors(&self) -> Vec<FieldError> {
        password_error("password", &self.password).into_iter().collect()
    }
}

/// All accounts, the newest first.
#[utoipa::path(get, path = "/api/v1/accounts", operation_id = "list_accounts", tag = "accounts",
    params(PageQuery), security(("session" = [])),
    responses((status = 200, body = Page<Account>)))]
pub async fn list(
    _viewer: Viewer,
    State(state): State<ApiState>,
    Query(page): Query<PageQuery>,
) -> Result<Json<Page<Account>>, Problem> {
    let limit = page.limit()?;
    let found = admins::list(&state.core.store, page.before()?, limit + 1).await?;
    Ok(Json(Page::from_rows(found, limit, |account| account.id.get()).map(Account::from)))
}

/// Create an account.
#[utoipa::path(post, path = "/api/v1/accounts", operation_id = "create_account",
    tag = "accounts", request_body = NewAccount, security(("session" = [])),
    responses((status = 201, body = Account)))]
pub async fn create(
    admin: AdminInPerson,
    State(state): State<ApiState>,
    Json(new): Json<NewAccount>,
) -> Result<(StatusCode, Json<Account>), Problem> {
    let core = &state.core;
    let hash = state.sign_in.hash(new.password).await?;
    let created =
        admins::create(&core.store, &new.name, new.role, &hash, &admin.name, core.now()).await?;
    let Some(id) = created else {
        return Err(Problem::conflict(format!("There is an account {:?} already.", new.name)));
    };
    Ok((StatusCode::CREATED, read(&state, id).await?))
}

/// Give an account another role. It applies at once.
#[utoipa::path(put, path = "/api/v1/accounts/{id}/role", operation_id = "set_account_role",
    tag = "accounts", params(("id" = String, Path, example = "acc_3")),
    request_body = RoleChange, security(("session" = [])),
    responses((status = 200, body = Account)))]
pub async fn set_role(
    admin: AdminInPerson,
    State(state): State<ApiState>,
    Path(id): Path<AccountId>,
    Json(change): Json<RoleChange>,
) -> Result<Json<Account>, Problem> {
    apply(&state, &admin, id, Change::Role(change.role)).await?;
    read(&state, id).await
}

/// Set a new password of an account, which ends its sessions and revokes its API tokens.
#[utoipa::path(put, path = "/api/v1/accounts/{id}/password",
    operation_id = "reset_account_password", tag = "accounts",
    params(("id" = String, Path, example = "acc_3")), request_body = PasswordReset,
    security(("session" = [])), responses((status = 200, body = Account)))]
pub async fn reset_password(
    admin: AdminInPerson,
    State(state): State<ApiState>,
    Path(id): Path<AccountId>,
    Json(reset): Json<PasswordReset>,
) -> Result<Json<Account>, Problem> {
    let hash = state.sign_in.hash(reset.password).await?;
    apply(&state, &admin, id, Change::reset_password(&hash)).await?;
    read(&state, id).await
}

/// Remove an account and end its sessions.
#[utoipa::path(delete, path = "/api/v1/accounts/{id}", operation_id = "remove_account",
    tag = "accounts", params(("id" = String, Path, example = "acc_3")),
    security(("session" = [])), responses((status = 204, description = "Removed")))]
pub async fn remove(
    admin: AdminInPerson,
    State(state): State<ApiState>,
    Path(id): Path<AccountId>,
) -> Result<StatusCode, Problem> {
    apply(&state, &admin, id, Change::Remove).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn apply(
    state: &ApiState,
    admin: &AdminInPerson,
    id: AccountId,
    change: Change<'_>,
) -> Result<(), Problem> {
    let core = &state.core;
    match admins::change(&core.store, id, change, &admin.name, core.now()).await? {
        Outcome::Done => Ok(()),
        Outcome::Unknown => Err(unknown(id)),
        Outcome::LastAdmin => Err(Problem::conflict(
            "This is the last account that may change anything; make another admin first.",
        )),
    }
}

async fn read(state: &ApiState, id: AccountId) -> Result<Json<Account>, Problem> {
    let found = admins::get(&state.core.store, id).await?;
    found.map(|account| Json(account.into())).ok_or_else(|| unknown(id))
}

fn unknown(id: AccountId) -> Problem {
    Problem::not_found(format!("There is no account {id}."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actors_of_the_audit_log_are_no_names_of_accounts() {
        for name in ["coordinator", "owner", "partner", "", " a"] {
            assert!(name_error(name).is_some(), "{name:?}");
        }
        assert!(name_error("Owner of the lab").is_none());
    }
}
