//! What admins give the coordinator to do, and what is running.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::http::extract::Checked;
use crate::http::problem::FieldError;

/// Most seeds of one request.
const SEEDS_MAX: usize = 10_000;

/// URLs to begin from.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Seeds {
    /// Absolute http or https URLs of at most 2,048 bytes.
    #[schema(min_items = 1, max_items = 10_000)]
    pub urls: Vec<String>,
}

impl Checked for Seeds {
    fn broken_rules(&self) -> Vec<FieldError> {
        if (1..=SEEDS_MAX).contains(&self.urls.len()) {
            return Vec::new();
        }
        vec![FieldError::new(
            "urls",
            format!("give 1 to {SEEDS_MAX} URLs, not {}", self.urls.len()),
        )]
    }
}

/// A seed that was not taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Rejected {
    /// As it was given.
    pub url: String,
    /// Why not.
    pub reason: String,
}

/// What became of the seeds.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct SeedsAnswer {
    /// New to the coordinator.
    pub accepted: u64,
    /// Known before.
    pub already_known: u64,
    /// Not taken, and why.
    pub rejected: Vec<Rejected>,
}

/// What is running.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Version {
    /// Version of the coordinator.
    pub version: String,
    /// Version of the agent protocol it speaks.
    pub protocol: u32,
    /// `stub`, or the first twelve hex digits of the built dashboard's hash.
    pub dashboard: String,
}
