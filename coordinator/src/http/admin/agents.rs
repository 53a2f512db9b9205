//! Agents: list, details and administration.

use std::collections::HashMap;

use axum::extract::State;
use model::{AgentId, AgentState, PlaceClaim, Presence, UnixMillis};
use protocol::join_token::Fingerprint;
use store::agents::{self, AgentSummary, OrderOutcome};
use store::drains::{self, Drain};
use store::page_removals::{self, RemovalOutcome};
use store::trust::{self, AgentTrust};

use crate::http::admin::agent_list::{ListedAgent, SelectedAgents, select};
use crate::http::admin::drains as admin_drains;
use crate::http::admin::dto::agents::{Agent, AgentList, AgentQuery, ReportTrust};
use crate::http::admin::report_trust::{report_trust, witnesses};
use crate::http::admin::subnet_lookup::SubnetInfo;
use crate::http::authentication::{Admin, Viewer};
use crate::http::extract::{Json, Path, Query};
use crate::http::paging::{PageQuery, bad_cursor, decode_cursor, encode_cursor};
use crate::http::problem::Problem;
use crate::http::state::ApiState;
use crate::packages::ingest_packages;
use crate::placement::agent_administration::{AgentAction, administer};
use crate::predictor::read_trust;
use crate::runtime::events::Event;
use crate::tasks::coordinator::Coordinator;

/// Agents that pass the filter, in the order asked for, with counts.
#[utoipa::path(get, path = "/api/v1/agents", operation_id = "list_agents", tag = "agents",
    params(AgentQuery, PageQuery), security(("session" = [])),
    responses((status = 200, body = AgentList)))]
pub async fn list(
    _viewer: Viewer,
    State(state): State<ApiState>,
    Query(query): Query<AgentQuery>,
    Query(page): Query<PageQuery>,
) -> Result<Json<AgentList>, Problem> {
    let limit = usize::try_from(page.limit()?).unwrap_or(usize::MAX);
    // The cursor is the number of agents before the page.
    let before = page.cursor.as_deref().map_or(Ok(0), decode_cursor)?;
    let before = usize::try_from(before).map_err(|_| bad_cursor())?;
    let all = agents::list(&state.core.store).await?;
    let listed = all.into_iter().map(|agent| listed(&state.core, agent)).collect();
    let SelectedAgents { agents, states, presences } = select(listed, &query);
    let total = agents.len();
    let end = before.saturating_add(limit).min(total);
    let page: Vec<AgentSummary> =
        agents.into_iter().skip(before).take(limit).map(|listed| listed.agent).collect();
    let next_cursor = (end < total).then(|| encode_cursor(i64::try_from(end).unwrap_or(i64::MAX)));
    let items = to_dtos(&state, page).await?;
    Ok(Json(AgentList { items, next_cursor, total: total as u64, states, presences }))
}

fn listed(core: &Coordinator, agent: AgentSummary) -> ListedAgent {
    let presence = presence(&agent, core.heartbeat_cutoff(), core.now());
    let SubnetInfo { country, company, .. } =
        SubnetInfo::of_address(core.delegated().as_deref(), agent.home);
    ListedAgent { agent, presence, registration: country.into_iter().chain(company).collect() }
}

async fn to_dtos(state: &ApiState, page: Vec<AgentSummary>) -> Result<Vec<Agent>, Problem> {
    let store = &state.core.store;
    let ids: Vec<AgentId> = page.iter().map(|agent| agent.id).collect();
    let stored = trust::find(store, &ids).await?;
    let witnesses = agents::names(store, &witnesses(&stored)).await?;
    let mut stored: HashMap<AgentId, AgentTrust> =
        stored.into_iter().map(|stored| (stored.agent, stored)).collect();
    let mut judged = read_trust(&state.core.predictor).await?;
    let drains = drains::list(store).await?;
    let mut drains: HashMap<AgentId, Drain> =
        drains.into_iter().map(|drain| (drain.agent, drain)).collect();
    let agents = page.into_iter().map(|agent| {
        let judged = judged.remove(&agent.id).unwrap_or_default();
        let reports = report_trust(&judged, stored.remove(&agent.id), &witnesses);
        let drain = drains.remove(&agent.id);
        to_dto(&state.core, agent, reports, drain)
    });
    Ok(agents.collect())
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

/// Remove all pages of a revoked agent from the search, at every coordinator.
#[utoipa::path(post, path = "/api/v1/agents/{id}/remove-pages",
    operation_id = "remove_pages_of_agent", tag = "agents",
    params(("id" = String, Path, example = "agt_12")),
    security(("session" = [])), responses((status = 200, body = Agent)))]
pub async fn remove_pages(
    admin: Admin,
    State(state): State<ApiState>,
    Path(id): Path<AgentId>,
) -> Result<Json<Agent>, Problem> {
    let core = &state.core;
    match page_removals::order(&core.store, id, &admin.name, core.now()).await? {
        None => return Err(unknown(id)),
        Some(RemovalOutcome::NotRevoked(at)) => {
            let detail = format!(
                "{id} is {}: revoke it first, or its next packages bring pages again.",
                at.as_str()
            );
            return Err(Problem::conflict(detail));
        }
        Some(RemovalOutcome::Ordered) => {
            core.events.emit(Event::PagesRemoved);
            core.peer_hints.wake_task(ingest_packages::NAME);
        }
        Some(RemovalOutcome::Already) => {}
    }
    read(&state, id).await
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
        Some(OrderOutcome::Leaving) => {
            let detail = format!("{id} is being ended by its owner; it cannot be resumed.");
            Err(Problem::conflict(detail))
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

/// The agent of this id, or 404.
pub(super) async fn read(state: &ApiState, id: AgentId) -> Result<Json<Agent>, Problem> {
    let found = agents::find(&state.core.store, id).await?;
    let agent = to_dtos(state, found.into_iter().collect()).await?.pop();
    agent.map(Json).ok_or_else(|| unknown(id))
}

/// The problem of an agent that does not exist.
pub(super) fn unknown(id: AgentId) -> Problem {
    Problem::not_found(format!("There is no agent {id}."))
}

fn to_dto(
    core: &Coordinator,
    agent: AgentSummary,
    reports: ReportTrust,
    drain: Option<Drain>,
) -> Agent {
    let presence = presence(&agent, core.heartbeat_cutoff(), core.now());
    let state = agent.state;
    let SubnetInfo { registry, country, company } =
        SubnetInfo::of_address(core.delegated().as_deref(), agent.home);
    let place = agent.place.as_ref();
    let is_forging = reports.paused_at.is_some();
    Agent {
        reports,
        drain: drain.map(|drain| admin_drains::to_dto(drain, core.now())),
        idle_reason: match (agent.left_at, agent.leaving_at) {
            (Some(_), _) => Some("left, because its owner ended it".to_owned()),
            (None, Some(_)) => Some("leaves: it hands its hosts over".to_owned()),
            (None, None) => idle_reason(state, is_forging, presence, agent.idle_reason),
        },
        id: agent.id,
        name: agent.name,
        state,
        presence,
        home: agent.home.to_string(),
        source: agent.source.map(|source| source.to_string()),
        source_since: agent.source_since.map(Into::into),
        city: place.and_then(PlaceClaim::city).map(str::to_owned),
        latitude: place.map(PlaceClaim::latitude),
        longitude: place.map(PlaceClaim::longitude),
        registry,
        country,
        company,
        key_fingerprint: Fingerprint::of(&agent.key).to_string(),
        join_token: agent.join_token,
        leaving_at: agent.leaving_at.map(Into::into),
        left_at: agent.left_at.map(Into::into),
        pages_removed_at: agent.pages_removed_at.map(Into::into),
        contact: agent.contact,
        version: agent.version,
        capacity_pages_per_day: agent.capacity_pages_per_day.into(),
        spans: agent.spans,
        zone: agent.zone,
        enrolled_at: agent.enrolled_at.into(),
        approved_at: agent.approved_at.map(Into::into),
        last_heartbeat_at: agent.last_heartbeat_at.map(Into::into),
        asleep_until: agent.asleep_until.map(Into::into),
        clock_off_s: agent.clock_off_ms.map(|off| off / 1_000),
        delegations: agent.delegations,
        hosts: agent.hosts,
        pages: agent.pages,
        bytes_fetched: agent.wire_bytes,
        bytes_shipped: agent.shipped_bytes,
    }
}

pub(super) fn presence(
    agent: &AgentSummary,
    heartbeat_cutoff: UnixMillis,
    now: UnixMillis,
) -> Presence {
    match agent.last_heartbeat_at {
        None => Presence::Never,
        // Its heartbeats are refused, however recent the last one is.
        Some(_) if agent.state == AgentState::Revoked => Presence::Unreachable,
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
