//! Signing in and out.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::extract::{ConnectInfo, FromRequestParts, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::IntoResponse;
use serde_json::Value;
use store::{admins, audit};
use tokio::sync::Semaphore;

use crate::http::admin::dto::{Credentials, SessionAnswer};
use crate::http::admin::password::{self, Check, PasswordError};
use crate::http::authentication::{COOKIE, SessionToken, Viewer};
use crate::http::extract::Json;
use crate::http::problem::Problem;
use crate::http::state::ApiState;
use crate::http::throttle::Throttle;

/// Passwords looked at at the same time; each takes 19 MiB and a core.
const AT_ONCE: usize = 2;
/// How long a try waits for its turn.
const TURN: Duration = Duration::from_secs(5);

/// Guards signing in.
pub struct SignIn {
    throttle: Mutex<Throttle>,
    turns: Semaphore,
}

impl Default for SignIn {
    fn default() -> Self {
        Self { throttle: Mutex::default(), turns: Semaphore::new(AT_ONCE) }
    }
}

impl SignIn {
    fn throttle(&self) -> MutexGuard<'_, Throttle> {
        self.throttle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets a try pass or says how long to wait. It counts as failed until it succeeds.
    fn admit(&self, name: &str, from: IpAddr, now: model::UnixMillis) -> Result<(), Problem> {
        let mut throttle = self.throttle();
        if let Some(wait_ms) = throttle.wait_ms(name, from, now) {
            let seconds = wait_ms.div_ceil(1_000);
            return Err(Problem::too_many(
                format!("Too many wrong passwords; try again in {seconds} s."),
                seconds,
            ));
        }
        throttle.count(name, from, now);
        Ok(())
    }

    async fn check(&self, password: String, hash: Option<String>) -> Result<Check, Problem> {
        let turn = tokio::time::timeout(TURN, self.turns.acquire()).await;
        let Ok(Ok(_turn)) = turn else {
            return Err(Problem::unavailable("Too many people sign in at once; try again."));
        };
        Ok(password::check(password, hash).await?)
    }
}

impl From<PasswordError> for Problem {
    fn from(error: PasswordError) -> Self {
        Self::internal(&error)
    }
}

/// The address at the other end of the connection.
pub struct Peer(IpAddr);

impl<S: Send + Sync> FromRequestParts<S> for Peer {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Self::Rejection> {
        let info = parts.extensions.get::<ConnectInfo<SocketAddr>>();
        Ok(Self(info.map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |info| info.0.ip())))
    }
}

/// Sign in.
///
/// Sets the session cookie. After several wrong passwords there is a pause (429).
#[utoipa::path(post, path = "/api/v1/session", operation_id = "sign_in", tag = "session",
    request_body = Credentials, responses((status = 200, body = SessionAnswer)))]
pub async fn sign_in(
    State(state): State<ApiState>,
    Peer(from): Peer,
    headers: HeaderMap,
    Json(credentials): Json<Credentials>,
) -> Result<impl IntoResponse, Problem> {
    let Credentials { name, password } = credentials;
    let core = &state.core;
    state.sign_in.admit(&name, from, core.now())?;
    let account = admins::find(&core.store, &name).await?;
    let hash = account.as_ref().map(|account| account.password_hash.clone());
    let check = state.sign_in.check(password, hash).await?;
    let Some(account) = account.filter(|_| check != Check::Wrong) else {
        tracing::warn!(%from, "somebody failed to sign in");
        return Err(Problem::new(
            StatusCode::UNAUTHORIZED,
            "wrong-password",
            "Name or password is wrong.",
        ));
    };
    state.sign_in.throttle().forget(&name, from);
    if let Check::Renew(hash) = check {
        admins::rehash(&core.store, account.id, &hash).await?;
    }
    let token = SessionToken::new(rand::random());
    admins::open_session(&core.store, &token.sha256(), account.id, core.now()).await?;
    note(&state, &name, "session.open").await?;
    let cookie = cookie(&token.text(), &headers, None)?;
    Ok((cookie, Json(SessionAnswer { name, role: account.role })))
}

/// Who is signed in?
#[utoipa::path(get, path = "/api/v1/session", operation_id = "who", tag = "session",
    security(("session" = [])), responses((status = 200, body = SessionAnswer)))]
pub async fn who(viewer: Viewer) -> Json<SessionAnswer> {
    Json(SessionAnswer { name: viewer.name, role: viewer.role })
}

/// Sign out.
#[utoipa::path(delete, path = "/api/v1/session", operation_id = "sign_out", tag = "session",
    responses((status = 204, description = "Signed out, or was not signed in")))]
pub async fn sign_out(
    State(state): State<ApiState>,
    token: Option<SessionToken>,
    headers: HeaderMap,
) -> Result<impl IntoResponse, Problem> {
    if let Some(token) = token {
        admins::close_session(&state.core.store, &token.sha256()).await?;
    }
    Ok((cookie("", &headers, Some(0))?, StatusCode::NO_CONTENT))
}

async fn note(state: &ApiState, actor: &str, action: &str) -> Result<(), Problem> {
    let entry = audit::Entry {
        actor,
        action,
        subject: actor,
        detail: &Value::Object(serde_json::Map::new()),
    };
    Ok(audit::write(&state.core.store, &entry, state.core.now()).await?)
}

/// The header that sets the session cookie. It is kept to TLS when the browser came by TLS, as the
/// proxy in front says; a lie there only costs the liar their own cookie.
fn cookie(
    value: &str,
    headers: &HeaderMap,
    max_age_s: Option<u32>,
) -> Result<[(header::HeaderName, HeaderValue); 1], Problem> {
    let secure = headers.get("x-forwarded-proto").is_some_and(|proto| proto == "https");
    let secure = if secure { "; Secure" } else { "" };
    let age = max_age_s.map(|age| format!("; Max-Age={age}")).unwrap_or_default();
    let text = format!("{COOKIE}={value}; Path=/; HttpOnly; SameSite=Lax{secure}{age}");
    let value = HeaderValue::try_from(text).map_err(|error| Problem::internal(&error))?;
    Ok([(header::SET_COOKIE, value)])
}
