//! Drains: an agent gives its subnets away; and the agents that would take them over.

use axum::extract::State;
use model::{AgentId, AgentState, UnixMillis};
use store::agents as stored_agents;
use store::drains::{self, StartOutcome};

use crate::http::admin::agents::{read, unknown};
use crate::http::admin::constraint_preview::preview;
use crate::http::admin::dto::agents::{Agent, AgentRef};
use crate::http::admin::dto::drains::{
    Drain, DrainRequest, MeasuredAgent, MeasuredAgents, MeasuredQuery, Takeover,
};
use crate::http::admin::subnet_lookup::{no_hierarchy, range_parameter};
use crate::http::authentication::{Admin, Viewer};
use crate::http::extract::{Json, Path, Query};
use crate::http::problem::Problem;
use crate::http::state::ApiState;
use crate::placement::constraints::measured_agents::measured_agents;
use crate::placement::drain::takeover::preview_takeover;
use crate::runtime::events::Event;

/// Drain an agent: it gets no subnets any more, and those it has go to other agents. For an agent
/// that is drained already, this changes the deadline.
#[utoipa::path(post, path = "/api/v1/agents/{id}/drain", operation_id = "drain_agent",
    tag = "agents", params(("id" = String, Path, example = "agt_12")),
    request_body = DrainRequest, security(("session" = [])),
    responses((status = 200, body = Agent)))]
pub async fn start(
    admin: Admin,
    State(state): State<ApiState>,
    Path(id): Path<AgentId>,
    Json(request): Json<DrainRequest>,
) -> Result<Json<Agent>, Problem> {
    let core = &state.core;
    let now = core.now();
    let deadline_at = request.deadline_after_s.map(|after| now.plus_ms(i64::from(after) * 1_000));
    match drains::start(&core.store, id, deadline_at, &admin.name, now).await? {
        None => Err(unknown(id)),
        Some(StartOutcome::NotFrom(at)) => Err(Problem::conflict(format!(
            "{id} is {}: only an approved or paused agent can be drained.",
            at.as_str()
        ))),
        Some(StartOutcome::Started) => {
            core.events.emit(Event::AgentAdministered);
            read(&state, id).await
        }
    }
}

/// End the drain of an agent: it may get subnets again. It gets its home subnet back, and what is
/// pinned to it; everything else that has moved stays where it is.
#[utoipa::path(delete, path = "/api/v1/agents/{id}/drain", operation_id = "end_drain",
    tag = "agents", params(("id" = String, Path, example = "agt_12")),
    security(("session" = [])), responses((status = 200, body = Agent)))]
pub async fn cancel(
    admin: Admin,
    State(state): State<ApiState>,
    Path(id): Path<AgentId>,
) -> Result<Json<Agent>, Problem> {
    let core = &state.core;
    if drains::cancel(&core.store, id, &admin.name, core.now()).await? {
        core.events.emit(Event::AgentAdministered);
        return read(&state, id).await;
    }
    // 404 for an agent that does not exist, 409 for one that is not drained.
    read(&state, id).await?;
    Err(Problem::conflict(format!("{id} is not drained.")))
}

/// Which agents would take over the subnets of an agent if it left. Nothing is changed.
#[utoipa::path(get, path = "/api/v1/agents/{id}/takeover", operation_id = "preview_takeover",
    tag = "agents", params(("id" = String, Path, example = "agt_12")),
    security(("session" = [])), responses((status = 200, body = Takeover)))]
pub async fn takeover(
    _viewer: Viewer,
    State(state): State<ApiState>,
    Path(id): Path<AgentId>,
) -> Result<Json<Takeover>, Problem> {
    read(&state, id).await?;
    let delegated = state.core.delegated().ok_or_else(no_hierarchy)?;
    let found = preview_takeover(&state.core.placement, &delegated, id).await?;
    Ok(Json(Takeover { held: found.held as u64, preview: preview(&state, found.preview).await? }))
}

/// Approved and paused agents that have measured delegated subnets of a range, the nearest first:
/// at most 5,000 of the subnets count.
#[utoipa::path(get, path = "/api/v1/measured-agents", operation_id = "list_measured_agents",
    tag = "constraints", params(MeasuredQuery), security(("session" = [])),
    responses((status = 200, body = MeasuredAgents)))]
pub async fn measured(
    _viewer: Viewer,
    State(state): State<ApiState>,
    Query(query): Query<MeasuredQuery>,
) -> Result<Json<MeasuredAgents>, Problem> {
    let range = range_parameter("range", &query.range)?;
    let delegated = state.core.delegated().ok_or_else(no_hierarchy)?;
    let found = measured_agents(&state.core.placement, &delegated, &range).await?;
    let ids: Vec<AgentId> = found.iter().map(|measured| measured.agent).collect();
    let mut known = stored_agents::names_and_states(&state.core.store, &ids).await?;
    let items = found.into_iter().filter_map(|measured| {
        let (name, state) = known.remove(&measured.agent)?;
        matches!(state, AgentState::Approved | AgentState::Paused).then(|| MeasuredAgent {
            agent: AgentRef { id: measured.agent, name },
            state,
            subnets: measured.subnets as u64,
            median_ms: f64::from(measured.median_us) / 1_000.0,
        })
    });
    Ok(Json(MeasuredAgents { items: items.collect() }))
}

/// A drain as the API shows it.
pub(super) fn to_dto(drain: drains::Drain, now: UnixMillis) -> Drain {
    Drain {
        state: drain.state(now),
        requested_by: drain.requested_by,
        requested_at: drain.requested_at.into(),
        deadline_at: drain.deadline_at.map(Into::into),
        drained_at: drain.drained_at.map(Into::into),
        subnets_at_request: drain.subnets,
        hosts_at_request: drain.hosts,
    }
}
