//! Agents report what they measured.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use protocol::probe::Reports;
use store::probes;

use crate::http::agent::body::Words;
use crate::http::agent::caller::Caller;
use crate::http::problem::Problem;
use crate::runtime::events::Event;
use crate::tasks::coordinator::Coordinator;

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
        coordinator.events.emit(Event::LandmarkMeasured);
    }
    if news.check > 0 {
        coordinator.events.emit(Event::ControlProbeAnswered);
    }
    if news.search > 0 {
        coordinator.events.emit(Event::SearchProbeAnswered);
    }
    Ok(StatusCode::NO_CONTENT)
}
