//! Signing in.

use model::Role;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::http::extract::Checked;
use crate::http::problem::FieldError;

/// Name and password.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Credentials {
    /// The admin's name.
    #[schema(min_length = 1, max_length = 100)]
    pub name: String,
    /// The admin's password.
    #[schema(min_length = 1, max_length = 256, format = Password)]
    pub password: String,
}

impl Checked for Credentials {
    fn broken_rules(&self) -> Vec<FieldError> {
        let mut broken = Vec::new();
        if !(1..=100).contains(&self.name.chars().count()) {
            broken.push(FieldError::new("name", "give 1 to 100 characters"));
        }
        // A bound on what argon2 has to read; no password that a person or a manager makes is
        // longer.
        if !(1..=256).contains(&self.password.chars().count()) {
            broken.push(FieldError::new("password", "give 1 to 256 characters"));
        }
        broken
    }
}

/// Who is signed in.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct SessionAnswer {
    /// The admin's name.
    pub name: String,
    /// What they may do.
    pub role: Role,
}
