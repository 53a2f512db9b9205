//! How the work that nobody asks for is going.

use serde::Serialize;
use utoipa::ToSchema;

use crate::http::timestamp::Moment;

/// One background task: a piece of work that is always being caught up with.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct BackgroundTask {
    /// Its name, as in the log.
    pub name: String,
    /// Runs since the coordinator started.
    pub runs: u64,
    /// Failures in a row; 0 when the last run went well.
    pub failing: u32,
    /// When the last run ended.
    pub last_run_at: Option<Moment>,
    /// What the last run that did anything did.
    pub last_outcome: Option<String>,
    /// Why the last run failed; null when it went well.
    pub last_error: Option<String>,
}

/// All of them.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct BackgroundTasks {
    /// Whether this coordinator is the one that decides; another one only looks on.
    pub decides: bool,
    /// By name; those that have not run yet are missing.
    pub items: Vec<BackgroundTask>,
}
