//! Agents report what they measured.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use protocol::probe::Reports;
use store::probes;

use crate::http::agent::body::Words;
use crate::http::agent::caller::Caller;
use crate::http::problem::Problem;
use crate::runtime::events::Change;
use crate::runtime::state::Coordinator;

/// Takes reports down. Repeating a report changes nothing.
pub(super) async fn reports(
    State(coordinator): State<Arc<Coordinator>>,
    caller: Caller,
    Words(reports): Words<Reports>,
) -> Result<StatusCode, Problem> {
    caller.may_deliver()?;
    let news = probes::report(&coordinator.store, caller.agent, &reports.probes, coordinator.now())
        .await?;
    if news.landmark > 0 {
        coordinator.task_signals.measure_landmarks.notify_one();
        coordinator.task_signals.survey_landmarks.notify_one();
    }
    if news.check > 0 {
        coordinator.task_signals.calibrate.notify_one();
    }
    if news.search > 0 {
        coordinator.task_signals.drive_searches.notify_one();
        coordinator.events.tell(Change::Delegations);
    }
    Ok(StatusCode::NO_CONTENT)
}
