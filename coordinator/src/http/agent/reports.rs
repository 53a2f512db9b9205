//! Agents report what they measured.

use axum::extract::State;
use axum::http::StatusCode;
use model::{ProbeId, UnixMillis};
use protocol::probe::Reports;
use store::probes::{self, AnsweredOrder};
use store::{activity, agent_countries};

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
    let now = api.clock.now();
    let news = probes::report(&api.store, caller.agent, &reports.probes, now).await?;
    count(&api, caller, &reports, now).await?;
    let answered = [
        (ProbePurpose::Search, news.search),
        (ProbePurpose::Check, news.check),
        (ProbePurpose::Home, news.home),
    ];
    for (purpose, count) in answered {
        api.probe_metrics.answered(purpose, count.unsigned_abs());
    }
    if news.home > 0 {
        api.events.emit(Event::HomeMeasured);
    }
    if news.check > 0 {
        api.events.emit(Event::ControlProbeAnswered);
    }
    if news.search > 0 {
        api.events.emit(Event::SearchProbeAnswered);
    }
    Ok(StatusCode::NO_CONTENT)
}

/// Counts what was reported now in the time series, and the round trips by country.
async fn count(
    api: &AgentApi,
    caller: Caller,
    reports: &Reports,
    now: UnixMillis,
) -> Result<(), Problem> {
    let orders: Vec<ProbeId> = reports.probes.iter().map(|report| report.probe).collect();
    let answers = probes::answers_at(&api.store, caller.agent, &orders, now).await?;
    if answers.is_empty() {
        return Ok(());
    }
    activity::count_probes(&api.store, caller.agent, answers.len() as u64, now).await?;
    let Some(delegated) = api.packages.hierarchy.current() else { return Ok(()) };
    let located = |answer: &AnsweredOrder| {
        let country = delegated.hierarchy().country_at(answer.address?)?;
        Some((country, answer.rtt_us?))
    };
    let round_trips: Vec<_> = answers.iter().filter_map(located).collect();
    Ok(agent_countries::count_probes(&api.store, caller.agent, &round_trips).await?)
}
