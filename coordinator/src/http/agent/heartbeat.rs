//! Heartbeat: a long poll that returns when there is work for the agent.

use std::collections::HashSet;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use axum::Json;
use axum::extract::{ConnectInfo, State};
use axum::http::StatusCode;
use model::{AgentState, UnixMillis};
use protocol::{
    BundleOffer, HeartbeatRequest, HeartbeatResponse, HostOrder, Presence, ProbeOrder, Route,
    WorkStatus, limits,
};
use store::agents::{self, Heartbeat, HeartbeatOutcome};
use store::line::one_line;
use store::{activity, handovers, host_bundles, probes, routes, url_questions};
use tokio::time::Instant;

use crate::http::agent::AgentApi;
use crate::http::agent::body::ProtocolBody;
use crate::http::agent::caller::Caller;
use crate::http::agent::enrol::check_profile;
use crate::http::agent::refusal;
use crate::http::problem::Problem;
use crate::runtime::events::Event;

/// Stores the heartbeat at once. Answers when there are routes, orders or another state, or when
/// the hold time is over. Agents that come too often wait first.
pub(super) async fn heartbeat(
    State(api): State<AgentApi>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    caller: Caller,
    ProtocolBody(request): ProtocolBody<HeartbeatRequest>,
) -> Result<Json<HeartbeatResponse>, Problem> {
    let now = std::time::Instant::now();
    tokio::time::sleep(api.heartbeat_rate.wait(caller.agent, now)).await;
    let hold = Duration::from_millis(request.hold_ms.min(limits::HEARTBEAT_HOLD_MS).into());
    let deadline = Instant::now() + hold;
    store_heartbeat(&api, caller, peer.ip().to_canonical(), &request).await?;
    let woken = api.agent_wakeups.signal(caller.agent);
    loop {
        let signal = woken.notified();
        tokio::pin!(signal);
        // From here on no wake-up is missed, including one while the database is read.
        signal.as_mut().enable();
        let pending = PendingWork::read(&api, caller, &request).await?;
        let other_policy =
            request.policy.is_some_and(|known| known != api.policy.load().for_agents());
        if pending.is_any(&request) || other_policy || Instant::now() >= deadline {
            return Ok(Json(pending.answer(&api)));
        }
        tokio::select! {
            () = &mut signal => {}
            () = tokio::time::sleep_until(deadline) => {}
            () = api.stop.cancelled() => return Ok(Json(pending.answer(&api))),
        }
    }
}

async fn store_heartbeat(
    api: &AgentApi,
    caller: Caller,
    source: IpAddr,
    request: &HeartbeatRequest,
) -> Result<(), Problem> {
    let now = api.clock.now();
    let asleep_until = match request.status.presence {
        Presence::Awake => None,
        // By the coordinator's clock: the agent's may be off.
        Presence::Asleep { until } => {
            let sleep_ms = until.0.saturating_sub(request.agent_time.0);
            // An agent without a next span announces the end of time, which JSON and Postgres
            // cannot hold.
            Some(now.plus_ms(sleep_ms.clamp(0, limits::SLEEP_MS)))
        }
    };
    let idle_reason = request.status.idle_reason.as_deref().map(one_line);
    let presence = match asleep_until {
        Some(until) => Presence::Asleep { until },
        None => Presence::Awake,
    };
    let status = WorkStatus { idle_reason, presence, ..request.status.clone() }.bounded();
    let queued = status.queued;
    let mut status = serde_json::to_value(&status).map_err(|error| Problem::internal(&error))?;
    status["clock_off_ms"] = clock_off_ms(request.agent_time, now).into();
    let heartbeat = Heartbeat {
        agent: caller.agent,
        asleep_until,
        takes_probes: request.takes_probes,
        wants_region: request.wants_region,
        place: request.place.as_ref(),
        status: &status,
        routes_after: request.routes_after,
        source,
    };
    let standing =
        agents::heartbeat(&api.store, &heartbeat, api.limits.heartbeat_cutoff(now), now).await?;
    let standing = standing.ok_or_else(refusal::unknown_agent)?;
    check_routes(request, standing)?;
    activity::note_queue(&api.store, caller.agent, queued, now).await?;
    renew_profile(api, caller, request).await?;
    if standing.presence_changed {
        api.events.emit(Event::AgentAvailabilityChanged);
    }
    if standing.confirmed > 0 {
        api.events.emit(Event::RoutesConfirmed);
    }
    store_answers(api, caller, request).await?;
    release(api, caller, request).await?;
    forget_bundles(api, caller, request).await
}

/// Stores what the owner has changed in the configuration. A profile that enrolment would refuse
/// changes nothing, and the known one stays valid.
async fn renew_profile(
    api: &AgentApi,
    caller: Caller,
    request: &HeartbeatRequest,
) -> Result<(), Problem> {
    let Some(profile) = &request.profile else { return Ok(()) };
    let agent = caller.agent;
    if let Err(problem) = check_profile(profile) {
        tracing::warn!(%agent, problem = problem.detail, "an agent's profile is not taken");
    } else if agents::renew_profile(&api.store, agent, profile).await? {
        tracing::info!(%agent, name = profile.name, "an agent's profile has changed");
    }
    Ok(())
}

/// Forgets the bundles that the agent took.
async fn forget_bundles(
    api: &AgentApi,
    caller: Caller,
    request: &HeartbeatRequest,
) -> Result<(), Problem> {
    let taken = &request.bundles_taken;
    if taken.is_empty() {
        return Ok(());
    }
    let taken = &taken[..taken.len().min(limits::BUNDLES_PER_HEARTBEAT)];
    let objects = host_bundles::taken(&api.store, caller.agent, taken).await?;
    api.packages.blobs.delete_all(&objects).await;
    Ok(())
}

/// Keeps what the agent answers about URLs, for the people who wait for it.
async fn store_answers(
    api: &AgentApi,
    caller: Caller,
    request: &HeartbeatRequest,
) -> Result<(), Problem> {
    if !request.url_statuses.is_empty() {
        let now = api.clock.now();
        url_questions::answer(&api.store, caller.agent, &request.url_statuses, now).await?;
        api.url_answers.notify_waiters();
    }
    Ok(())
}

/// Hosts that the agent has released go to the agents of their subnets.
async fn release(
    api: &AgentApi,
    caller: Caller,
    request: &HeartbeatRequest,
) -> Result<(), Problem> {
    if request.orders_done.is_empty() {
        return Ok(());
    }
    // The answer names all of them, because the agent forgets those that it does not name.
    let mut released = 0;
    for done in request.orders_done.chunks(limits::HOST_ORDERS_PER_HEARTBEAT) {
        released += handovers::confirm(&api.store, caller.agent, done, api.clock.now()).await?;
    }
    if released > 0 {
        api.events.emit(Event::HostsReleased);
    }
    Ok(())
}

/// How far the clock of an agent is ahead, or behind if negative; none while it is right. The order
/// of fetches of a page depends on the clocks of agents.
fn clock_off_ms(agent_time: UnixMillis, now: UnixMillis) -> Option<i64> {
    let is_off = agent_time.distance_ms(now) > limits::CLOCK_OFF_MS;
    is_off.then(|| agent_time.0.saturating_sub(now.0))
}

/// An agent cannot have stored routes that were never made: it was enrolled with another database.
fn check_routes(request: &HeartbeatRequest, standing: HeartbeatOutcome) -> Result<(), Problem> {
    if request.routes_after <= standing.last_route {
        return Ok(());
    }
    let detail = format!(
        "The agent confirms route {} but only {} were made: its data directory belongs to another \
         coordinator, or this coordinator's database was restored from an older copy. Give the \
         agent a fresh data directory.",
        request.routes_after, standing.last_route
    );
    Err(Problem::new(StatusCode::CONFLICT, "routes-never-made", detail))
}

/// Bundles of hosts that the agent has got from others.
async fn offered_bundles(api: &AgentApi, caller: Caller) -> Result<Vec<BundleOffer>, Problem> {
    let now = api.clock.now();
    Ok(host_bundles::offered(&api.store, caller.agent, limits::BUNDLES_PER_HEARTBEAT, now).await?)
}

/// Orders about hosts that the agent has accepted and not executed yet. It has begun nothing more
/// with these hosts since, so that the lease for the others need not wait for them. None where the
/// agent has more than it can name in the next requests: then it executes these first.
fn orders_underway(request: &HeartbeatRequest) -> Vec<u64> {
    if request.orders_accepted.len() > limits::HOST_ORDERS_UNDERWAY {
        return Vec::new();
    }
    let done: HashSet<u64> = request.orders_done.iter().copied().collect();
    request.orders_accepted.iter().copied().filter(|number| !done.contains(number)).collect()
}

/// What there is for an agent at one moment.
struct PendingWork {
    state: AgentState,
    routes: Vec<Route>,
    probes: Vec<ProbeOrder>,
    hosts: Vec<HostOrder>,
    bundles: Vec<BundleOffer>,
    /// URLs that people ask about; each is sent once.
    questions: Vec<String>,
    /// Whether the agent has every order about hosts with this answer.
    complete: bool,
}

impl PendingWork {
    async fn read(
        api: &AgentApi,
        caller: Caller,
        request: &HeartbeatRequest,
    ) -> Result<Self, Problem> {
        let identity = agents::identity(&api.store, caller.agent).await?;
        let state = identity.ok_or_else(refusal::unknown_agent)?.state;
        let awake = request.status.presence == Presence::Awake;
        // Paused agents also release hosts; a sleeping agent does when its next span starts.
        let most_orders = limits::HOST_ORDERS_PER_HEARTBEAT;
        let underway = orders_underway(request);
        let mut hosts = handovers::open(&api.store, caller.agent, &underway, most_orders).await?;
        let complete = hosts.is_empty() || (awake && hosts.len() < most_orders);
        if !awake {
            hosts.clear();
        }
        let mut questions = Vec::new();
        if awake {
            questions = url_questions::take(&api.store, caller.agent, api.clock.now()).await?;
        }
        if state != AgentState::Approved || !awake {
            return Ok(Self {
                state,
                routes: Vec::new(),
                probes: Vec::new(),
                hosts,
                bundles: Vec::new(),
                questions,
                complete,
            });
        }
        let most = limits::ROUTES_PER_HEARTBEAT.min(api.limits.routes_per_heartbeat as usize);
        let routes = routes::after(&api.store, caller.agent, request.routes_after, most).await?;
        // Read after the routes, so that a host whose routes are in this answer has its bundle in
        // it as well.
        let bundles = offered_bundles(api, caller).await?;
        let taken = &request.probes_accepted;
        let samples = api.policy.load().samples;
        let most = if request.takes_probes { limits::PROBES_PER_HEARTBEAT } else { 0 };
        let probes = probes::orders(&api.store, caller.agent, taken, samples, most).await?;
        Ok(Self { state, routes, probes, hosts, bundles, questions, complete })
    }

    /// Whether the answer is sent at once. A sleeping agent does not wait.
    fn is_any(&self, request: &HeartbeatRequest) -> bool {
        let asleep = request.status.presence != Presence::Awake;
        let hosts = self.hosts.iter().any(|order| !request.orders_accepted.contains(&order.number));
        asleep
            || self.state != request.state
            || !self.routes.is_empty()
            || !self.probes.is_empty()
            || !self.bundles.is_empty()
            || !self.questions.is_empty()
            || hosts
    }

    /// An agent that did not get all host orders yet must not fetch from hosts that have other
    /// agents by now.
    fn lease_ms(&self, api: &AgentApi) -> u64 {
        let lease_s = if self.complete { api.limits.lease_s } else { 0 };
        u64::from(lease_s) * 1_000
    }

    fn answer(self, api: &AgentApi) -> HeartbeatResponse {
        let lease_ms = self.lease_ms(api);
        HeartbeatResponse {
            lease_ms,
            coordinator_time: api.clock.now(),
            state: self.state,
            routes: self.routes,
            probes: self.probes,
            host_orders: self.hosts,
            bundles: self.bundles,
            policy: api.policy.load().for_agents(),
            contents_lost_before: api.contents_lost_before,
            questions: self.questions,
        }
    }
}
