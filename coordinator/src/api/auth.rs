//! Who asks?

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

use super::body::Role;
use super::problem::Problem;
use super::state::ApiState;

/// A signed-in admin.
pub struct Admin {
    /// The admin's name.
    pub name: String,
    /// What they may do.
    pub role: Role,
}

impl FromRequestParts<ApiState> for Admin {
    type Rejection = Problem;

    async fn from_request_parts(_: &mut Parts, _: &ApiState) -> Result<Self, Problem> {
        Err(Problem::unauthorized())
    }
}
