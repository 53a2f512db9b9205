//! Signing in and out.

use axum::extract::State;
use axum::http::StatusCode;

use super::auth::Admin;
use super::body::{Credentials, SessionAnswer};
use super::extract::Json;
use super::problem::Problem;
use super::state::ApiState;

/// Name of the session cookie.
pub const COOKIE: &str = "nearcrawl_session";

/// Sign in.
///
/// Sets the session cookie. After several wrong passwords there is a pause (429).
#[utoipa::path(post, path = "/api/v1/session", tag = "session", request_body = Credentials,
    responses((status = 200, body = SessionAnswer)))]
pub async fn sign_in(
    State(_state): State<ApiState>,
    Json(_credentials): Json<Credentials>,
) -> Result<Json<SessionAnswer>, Problem> {
    Err(Problem::unavailable("soon"))
}

/// Who is signed in?
#[utoipa::path(get, path = "/api/v1/session", tag = "session", security(("session" = [])),
    responses((status = 200, body = SessionAnswer)))]
pub async fn who(admin: Admin) -> Json<SessionAnswer> {
    Json(SessionAnswer { name: admin.name, role: admin.role })
}

/// Sign out.
#[utoipa::path(delete, path = "/api/v1/session", tag = "session",
    responses((status = 204, description = "Signed out")))]
pub async fn sign_out(State(_state): State<ApiState>) -> Result<StatusCode, Problem> {
    Err(Problem::unavailable("soon"))
}
