//! Status of the background tasks.

use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::authentication::Viewer;
use crate::http::extract::Json;
use crate::http::state::ApiState;
use crate::http::timestamp::Timestamp;

/// All background tasks of this coordinator.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct BackgroundTasks {
    /// True when this coordinator is the leader. Others run only the tasks that run everywhere.
    pub leader: bool,
    /// The tasks by name, without those that have not run yet.
    pub items: Vec<BackgroundTask>,
}

/// Status of one background task.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct BackgroundTask {
    /// Name of the task in the log.
    pub name: String,
    /// Number of runs since the coordinator started.
    pub runs: u64,
    /// Failed runs in a row; 0 after a success.
    pub consecutive_failures: u32,
    /// End of the last run; null before it.
    pub last_run_at: Option<Timestamp>,
    /// Result of the last run that changed something; null before it.
    pub last_outcome: Option<String>,
    /// Why the last run failed; null after a success.
    pub last_error: Option<String>,
}

/// The background tasks with their last results and errors.
#[utoipa::path(get, path = "/api/v1/tasks", operation_id = "list_tasks", tag = "health",
    security(("session" = [])), responses((status = 200, body = BackgroundTasks)))]
pub async fn list(_viewer: Viewer, State(state): State<ApiState>) -> Json<BackgroundTasks> {
    let statuses = state.core.statuses.all();
    let items = statuses.into_iter().map(|(name, status)| BackgroundTask {
        name: name.to_owned(),
        runs: status.runs,
        consecutive_failures: status.failing,
        last_run_at: status.last_run_at.map(Into::into),
        last_outcome: status.last_outcome,
        last_error: status.last_error,
    });
    Json(BackgroundTasks { leader: state.core.is_leader(), items: items.collect() })
}
