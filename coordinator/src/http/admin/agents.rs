//! Agents: list, details and administration.

use std::collections::HashMap;

use axum::extract::State;
use model::{AgentId, AgentState, Presence, UnixMillis};
use store::agents::{self, AgentSummary, OrderOutcome};
use store::trust::{self, AgentTrust};

use crate::http::admin::dto::agents::Agent;
use crate::http::admin::report_trust::report_trust;
use crate::http::admin::subnet_lookup::SubnetInfo;
use crate::http::authentication::{Admin, Viewer};
use crate::http::extract::{Json, Path, Query};
use crate::http::paging::{Page, PageQuery};
use crate::http::problem::Problem;
use crate::http::state::ApiState;
use crate::placement::agent_administration::{AgentAction, administer};
use crate::tasks::coordinator::Coordinator;

/// All agents, the newest first.
#[utoipa::path(get, path = "/api/v1/agents", operation_id = "list_agents", tag = "agents",
    params(PageQuery), security(("session" = [])), responses((status = 200, body = Page<Agent>)))]
pub async fn list(
    _viewer: Viewer,
    State(state): State<ApiState>,
    Query(page): Query<PageQuery>,
) -> Result<Json<Page<Agent>>, Problem> {
    let limit = page.limit()?;
    let found = agents::list(&state.core.store, page.before()?, limit + 1).await?;
    let ids: Vec<AgentId> = found.iter().map(|agent| agent.id).collect();
    let mut trust: HashMap<AgentId, AgentTrust> = trust::find(&state.core.store, &ids)
        .await?
        .into_iter()
        .map(|trust| (trust.agent, trust))
        .collect();
    let page = Page::from_rows(found, limit, |agent| agent.id.get());
    Ok(Json(page.map(|agent| {
        let trust = trust.remove(&agent.id);
        to_dto(&state.core, agent, trust)
    })))
}

/// One agent with its state and its counts.
#[utoipa::path(get, path = "/api/v1/agents/{id}", operation_id = "get_agent", tag = "agents",
    params(("id" = String, Path, example = "agt_12")), security(("session" = [])),
    responses((status = 200, body = Agent)))]
pub async fn get(
    _viewer: Viewer,
    State(state): State<ApiState>,
    Path(id): Path<AgentId>,
) -> Result<Json<Agent>, Problem> {
    read(&state, id).await
}

/// Approve a pending agent; its home subnet is delegated to it.
#[utoipa::path(post, path = "/api/v1/agents/{id}/approve", operation_id = "approve_agent",
    tag = "agents", params(("id" = String, Path, example = "agt_12")),
    security(("session" = [])), responses((status = 200, body = Agent)))]
pub async fn approve(
    admin: Admin,
    State(state): State<ApiState>,
    Path(id): Path<AgentId>,
) -> Result<Json<Agent>, Problem> {
    change(&state, &admin, id, AgentAction::Approve).await
}

/// Pause an agent; it keeps its delegations.
#[utoipa::path(post, path = "/api/v1/agents/{id}/pause", operation_id = "pause_agent",
    tag = "agents", params(("id" = String, Path, example = "agt_12")),
    security(("session" = [])), responses((status = 200, body = Agent)))]
pub async fn pause(
    admin: Admin,
    State(state): State<ApiState>,
    Path(id): Path<AgentId>,
) -> Result<Json<Agent>, Problem> {
    change(&state, &admin, id, AgentAction::Pause).await
}

/// Resume a paused agent.
#[utoipa::path(post, path = "/api/v1/agents/{id}/resume", operation_id = "resume_agent",
    tag = "agents", params(("id" = String, Path, example = "agt_12")),
    security(("session" = [])), responses((status = 200, body = Agent)))]
pub async fn resume(
    admin: Admin,
    State(state): State<ApiState>,
    Path(id): Path<AgentId>,
) -> Result<Json<Agent>, Problem> {
    change(&state, &admin, id, AgentAction::Resume).await
}

/// Revoke an agent's key for good; its work goes to other agents.
#[utoipa::path(post, path = "/api/v1/agents/{id}/revoke", operation_id = "revoke_agent",
    tag = "agents", params(("id" = String, Path, example = "agt_12")),
    security(("session" = [])), responses((status = 200, body = Agent)))]
pub async fn revoke(
    admin: Admin,
    State(state): State<ApiState>,
    Path(id): Path<AgentId>,
) -> Result<Json<Agent>, Problem> {
    change(&state, &admin, id, AgentAction::Revoke).await
}

async fn change(
    state: &ApiState,
    admin: &Admin,
    id: AgentId,
    action: AgentAction,
) -> Result<Json<Agent>, Problem> {
    match administer(&state.core.placement, id, action, &admin.name).await? {
        None => Err(unknown(id)),
        Some(OrderOutcome::NotFrom(at)) => {
            Err(Problem::conflict(format!("{id} is {}: {}", at.as_str(), rule(action))))
        }
        Some(OrderOutcome::Done | OrderOutcome::Already) => read(state, id).await,
    }
}

const fn rule(action: AgentAction) -> &'static str {
    match action {
        AgentAction::Approve => "only a pending agent can be approved.",
        AgentAction::Pause => "only an approved agent can be paused.",
        AgentAction::Resume => "only a paused agent can be resumed.",
        AgentAction::Revoke => "it cannot be revoked.",
    }
}

async fn read(state: &ApiState, id: AgentId) -> Result<Json<Agent>, Problem> {
    let found = agents::find(&state.core.store, id).await?.ok_or_else(|| unknown(id))?;
    let trust = trust::find(&state.core.store, &[id]).await?.pop();
    Ok(Json(to_dto(&state.core, found, trust)))
}

fn unknown(id: AgentId) -> Problem {
    Problem::not_found(format!("There is no agent {id}."))
}

fn to_dto(core: &Coordinator, agent: AgentSummary, trust: Option<AgentTrust>) -> Agent {
    let presence = presence(&agent, core.heartbeat_cutoff(), core.now());
    let state = agent.state;
    let SubnetInfo { registry, country, company } =
        SubnetInfo::of_address(core.delegated().as_deref(), agent.home);
    let is_forging = trust.as_ref().is_some_and(|trust| trust.paused.is_some());
    Agent {
        reports: report_trust(trust),
        idle_reason: idle_reason(state, is_forging, presence, agent.idle_reason),
        id: agent.id,
        name: agent.name,
        state,
        presence,
        home: agent.home.to_string(),
        city: None,
        registry,
        country,
        company,
        contact: agent.contact,
        version: agent.version,
        capacity_pages_per_day: agent.capacity_pages_per_day.into(),
        spans: agent.spans,
        zone: agent.zone,
        enrolled_at: agent.enrolled_at.into(),
        approved_at: agent.approved_at.map(Into::into),
        last_heartbeat_at: agent.last_heartbeat_at.map(Into::into),
        asleep_until: agent.asleep_until.map(Into::into),
        delegations: agent.delegations,
        hosts: agent.hosts,
        pages: agent.pages,
        bytes_fetched: agent.wire_bytes,
        bytes_shipped: agent.shipped_bytes,
    }
}

fn presence(agent: &AgentSummary, heartbeat_cutoff: UnixMillis, now: UnixMillis) -> Presence {
    match agent.last_heartbeat_at {
        None => Presence::Never,
        Some(_) if agent.asleep_until.is_some_and(|until| until > now) => Presence::Asleep,
        Some(heartbeat) if heartbeat >= heartbeat_cutoff => Presence::Awake,
        Some(_) => Presence::Unreachable,
    }
}

fn idle_reason(
    state: AgentState,
    is_forging: bool,
    presence: Presence,
    reported: Option<String>,
) -> Option<String> {
    let reason = match (state, presence) {
        (AgentState::Paused, _) if is_forging => "paused because of its reports",
        (AgentState::Pending, _) => "waits for an admin's approval",
        (AgentState::Paused, _) => "paused by an admin",
        (AgentState::Revoked, _) => "revoked by an admin",
        (AgentState::Approved, Presence::Never) => "no heartbeat since it enrolled",
        (AgentState::Approved, Presence::Asleep) => "asleep, outside its spans",
        (AgentState::Approved, Presence::Unreachable) => "no recent heartbeat",
        (AgentState::Approved, Presence::Awake) => return reported,
    };
    Some(reason.to_owned())
}
