//! Agents report what they measured.

use axum::extract::State;
use axum::http::StatusCode;
use protocol::probe::Reports;
use store::probes;

use crate::http::agent::AgentApi;
use crate::http::agent::body::ProtocolBody;
use crate::http::agent::caller::Caller;
use crate::http::problem::Problem;
use crate::runtime::events::Event;
use crate::runtime::metrics::probes::ProbePurpose;

/// Takes reports down. Repeating a report changes nothing.
pub(super) async fn reports(
    State(api): State<AgentApi>,
    caller: Caller,
    ProtocolBody(reports): ProtocolBody<Reports>,
) -> Result<StatusCode, Problem> {
    caller.may_deliver()?;
    let news = probes::report(&api.store, caller.agent, &reports.probes, api.clock.now()).await?;
    let answered = [
        (ProbePurpose::Search, news.search),
        (ProbePurpose::Landmark, news.landmark),
        (ProbePurpose::Check, news.check),
    ];
    for (purpose, count) in answered {
        api.probe_metrics.answered(purpose, count.unsigned_abs());
    }
    if news.landmark > 0 {
        api.events.emit(Event::LandmarkMeasured);
    }
    if news.check > 0 {
        api.events.emit(Event::ControlProbeAnswered);
    }
    if news.search > 0 {
        api.events.emit(Event::SearchProbeAnswered);
    }
    Ok(StatusCode::NO_CONTENT)
}
