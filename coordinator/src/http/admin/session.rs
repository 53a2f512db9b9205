//! Sign-in and sign-out.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Mutex, MutexGuard, PoisonError};

use axum::extract::{ConnectInfo, FromRequestParts, State};
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::IntoResponse;
use model::{AccountId, Role};
use serde::{Deserialize, Serialize};
use serde_json::json;
use store::admins::{self, Change};
use store::{Store, audit};
use utoipa::ToSchema;

use crate::http::admin::accounts::password_error;
use crate::http::admin::password::{self, Check, PASSWORD_MAX, PasswordError};
use crate::http::authentication::{Person, SessionToken, Viewer, cookie_name};
use crate::http::concurrency_limit::ConcurrencyLimit;
use crate::http::extract::{Json, PUBLIC_BODY_MAX, Validate};
use crate::http::problem::{FieldError, Problem};
use crate::http::state::ApiState;
use crate::http::throttle::Throttle;
use crate::runtime::config::Config;
use crate::tasks::coordinator::Coordinator;

/// Passwords checked at the same time; each check takes 19 MiB and a core.
const CHECKS: usize = 2;

/// Name and password of an admin.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Credentials {
    /// Name with which the admin signs in.
    #[schema(min_length = 1, max_length = 100)]
    pub name: String,
    /// Password of the admin.
    #[schema(min_length = 1, max_length = 256, format = Password)]
    pub password: String,
}

impl Validate for Credentials {
    const MOST_BYTES: Option<usize> = Some(PUBLIC_BODY_MAX);

    fn errors(&self) -> Vec<FieldError> {
        let mut errors = Vec::new();
        if !(1..=100).contains(&self.name.chars().count()) {
            errors.push(FieldError::new("name", "give 1 to 100 characters"));
        }
        if !(1..=PASSWORD_MAX).contains(&self.password.chars().count()) {
            errors.push(FieldError::new("password", "give 1 to 256 characters"));
        }
        errors
    }
}

/// The signed-in person.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Session {
    /// Name of the signed-in person.
    pub name: String,
    /// What the person may do.
    pub role: Role,
}

/// Limits guesses of passwords, and the memory and cores that checks take.
pub struct SignInGuard {
    throttle: Mutex<Throttle>,
    checks: ConcurrencyLimit,
}

impl Default for SignInGuard {
    fn default() -> Self {
        Self { throttle: Mutex::default(), checks: ConcurrencyLimit::new(CHECKS) }
    }
}

impl SignInGuard {
    fn throttle(&self) -> MutexGuard<'_, Throttle> {
        self.throttle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Allows an attempt, or refuses it with the time to wait. It counts as failed until
    /// [`Throttle::forget`].
    fn admit(&self, name: &str, from: IpAddr, now: model::UnixMillis) -> Result<(), Problem> {
        let mut throttle = self.throttle();
        if let Some(wait_ms) = throttle.wait_ms(name, from, now) {
            let seconds = wait_ms.div_ceil(1_000);
            return Err(Problem::too_many(
                format!("Too many wrong passwords; try again in {seconds} s."),
                seconds,
            ));
        }
        throttle.record(name, from, now);
        Ok(())
    }

    /// Takes back an attempt whose password could not be checked. It says nothing about the
    /// password, and must not lock out a person who has the right one.
    fn take_back(&self, name: &str, from: IpAddr) {
        self.throttle().take_back(name, from);
    }

    async fn check(&self, password: String, hash: Option<String>) -> Result<Check, Problem> {
        let refusal = "Too many people sign in at the same time; try again.";
        let permit = self.checks.acquire(refusal).await?;
        Ok(password::check(password, hash, permit).await?)
    }

    /// Hashes a new password.
    pub(super) async fn hash(&self, password: String) -> Result<String, Problem> {
        let refusal = "Too many people sign in at the same time; try again.";
        let permit = self.checks.acquire(refusal).await?;
        Ok(password::hash(password, permit).await?)
    }
}

impl From<PasswordError> for Problem {
    fn from(error: PasswordError) -> Self {
        Self::internal(&error)
    }
}

/// Client address of the connection; unspecified when the server provides none.
pub struct ClientAddress(pub IpAddr);

impl<S: Send + Sync> FromRequestParts<S> for ClientAddress {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Self::Rejection> {
        let info = parts.extensions.get::<ConnectInfo<SocketAddr>>();
        Ok(Self(info.map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |info| info.0.ip())))
    }
}

/// Open a session.
///
/// Sets the session cookie. After several wrong passwords the client must wait (429).
#[utoipa::path(post, path = "/api/v1/session", operation_id = "sign_in", tag = "session",
    request_body = Credentials, responses((status = 200, body = Session)))]
pub async fn sign_in(
    State(state): State<ApiState>,
    ClientAddress(from): ClientAddress,
    Json(credentials): Json<Credentials>,
) -> Result<impl IntoResponse, Problem> {
    let Credentials { name, password } = credentials;
    let core = &state.core;
    state.sign_in.admit(&name, from, core.now())?;
    let token = SessionToken::new(rand::random());
    let opened = open(core, &state.sign_in, &name, &password, &token).await;
    let Some(role) = opened.inspect_err(|_| state.sign_in.take_back(&name, from))? else {
        tracing::warn!(%from, "a sign-in failed");
        return Err(wrong_password());
    };
    state.sign_in.throttle().forget(&name, from);
    let entry = audit::Entry::new(&name, "session.open", &name, json!({}));
    audit::write(&core.store, &entry, core.now()).await?;
    let cookie = cookie(&token.text(), &core.config, None)?;
    Ok((cookie, Json(Session { name, role })))
}

/// Opens a session if the password is right, and says what the person may do.
async fn open(
    core: &Coordinator,
    guard: &SignInGuard,
    name: &str,
    password: &str,
    token: &SessionToken,
) -> Result<Option<Role>, Problem> {
    let account = authenticate(&core.store, guard, name, password).await?;
    let Some(account) = account else { return Ok(None) };
    let now = core.now();
    let is_open = admins::open_session(&core.store, &token.sha256(), &account, now).await?;
    Ok(is_open.then_some(account.role))
}

/// The account with this name, if the password is right.
async fn authenticate(
    store: &Store,
    guard: &SignInGuard,
    name: &str,
    password: &str,
) -> Result<Option<admins::StoredAccount>, Problem> {
    // Tries a second time if the hash was replaced since it was checked: another sign-in may have
    // renewed it, or an admin has set another password.
    for _ in 0..2 {
        let account = admins::find(store, name).await?;
        let hash = account.as_ref().map(|account| account.password_hash.clone());
        let check = guard.check(password.to_owned(), hash).await?;
        let Some(account) = account.filter(|_| check != Check::Wrong) else { return Ok(None) };
        let Check::Renew(hash) = check else { return Ok(Some(account)) };
        if admins::rehash(store, account.id, &account.password_hash, &hash).await? {
            return Ok(Some(admins::StoredAccount { password_hash: hash, ..account }));
        }
    }
    Ok(None)
}

fn wrong_password() -> Problem {
    Problem::new(StatusCode::UNAUTHORIZED, "wrong-password", "Name or password is wrong.")
}

/// The signed-in person.
#[utoipa::path(get, path = "/api/v1/session", operation_id = "get_session", tag = "session",
    security(("session" = [])), responses((status = 200, body = Session)))]
pub async fn get(viewer: Viewer) -> Json<Session> {
    Json(Session { name: viewer.name, role: viewer.role })
}

/// A new password for oneself.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PasswordChange {
    /// The present password.
    #[schema(min_length = 1, max_length = 256, format = Password)]
    pub current: String,
    /// The new password.
    #[schema(min_length = 12, max_length = 256, format = Password)]
    pub new: String,
    /// Whether the API tokens of the account are revoked as well: whoever used its session may have
    /// made one.
    #[serde(default)]
    pub revoke_api_tokens: bool,
}

impl Validate for PasswordChange {
    fn errors(&self) -> Vec<FieldError> {
        let mut errors = Vec::new();
        if !(1..=PASSWORD_MAX).contains(&self.current.chars().count()) {
            errors.push(FieldError::new("current", "give 1 to 256 characters"));
        }
        errors.extend(password_error("new", &self.new));
        errors
    }
}

/// Change the password of the signed-in person. All other sessions of the person end, and its API
/// tokens where the request says so.
#[utoipa::path(put, path = "/api/v1/session/password", operation_id = "change_own_password",
    tag = "session", request_body = PasswordChange, security(("session" = [])),
    responses((status = 204, description = "Changed")))]
pub async fn change_password(
    person: Person,
    State(state): State<ApiState>,
    ClientAddress(from): ClientAddress,
    token: Option<SessionToken>,
    Json(change): Json<PasswordChange>,
) -> Result<StatusCode, Problem> {
    let core = &state.core;
    state.sign_in.admit(&person.name, from, core.now())?;
    let checked = check_current(core, &state.sign_in, &person.name, change.current).await;
    let (id, check) = checked.inspect_err(|_| state.sign_in.take_back(&person.name, from))?;
    if check == Check::Wrong {
        let error = FieldError::new("current", "this is not the present password");
        return Err(Problem::invalid(vec![error]));
    }
    state.sign_in.throttle().forget(&person.name, from);
    let hash = state.sign_in.hash(change.new).await?;
    let session = token.map(|token| token.sha256());
    let kept_session = session.as_ref().map(<[u8; 32]>::as_slice);
    let revokes_tokens = change.revoke_api_tokens;
    let new = Change::Password { hash: &hash, kept_session, revokes_tokens };
    admins::change(&core.store, id, new, &person.name, core.now()).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Compares a password with that of a signed-in person.
async fn check_current(
    core: &Coordinator,
    guard: &SignInGuard,
    name: &str,
    password: String,
) -> Result<(AccountId, Check), Problem> {
    let account = admins::find(&core.store, name).await?.ok_or_else(Problem::unauthorized)?;
    let check = guard.check(password, Some(account.password_hash)).await?;
    Ok((account.id, check))
}

/// Close the session.
#[utoipa::path(delete, path = "/api/v1/session", operation_id = "sign_out", tag = "session",
    responses((status = 204, description = "Signed out, or was not signed in")))]
pub async fn sign_out(
    State(state): State<ApiState>,
    token: Option<SessionToken>,
) -> Result<impl IntoResponse, Problem> {
    if let Some(token) = token {
        admins::close_session(&state.core.store, &token.sha256()).await?;
    }
    Ok((cookie("", &state.core.config, Some(0))?, StatusCode::NO_CONTENT))
}

/// The header that sets the session cookie. The configuration alone says whether it is limited to
/// TLS, not the request: a proxy may forget to say that the browser used TLS.
fn cookie(
    value: &str,
    config: &Config,
    max_age_s: Option<u32>,
) -> Result<[(header::HeaderName, HeaderValue); 1], Problem> {
    let name = cookie_name(config);
    let secure = if config.has_secure_cookies() { "; Secure" } else { "" };
    let age = max_age_s.map(|age| format!("; Max-Age={age}")).unwrap_or_default();
    let text = format!("{name}={value}; Path=/; HttpOnly; SameSite=Lax{secure}{age}");
    let value = HeaderValue::try_from(text).map_err(|error| Problem::internal(&error))?;
    Ok([(header::SET_COOKIE, value)])
}
