//! The beat: an agent asks what there is to do, and the answer is held back until there is something.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use protocol::{AgentState, BeatAnswer, BeatRequest, Presence, ProbeOrder, Route, WorkStatus, limits};
use store::agents::{self, Beat, Standing};
use store::{probes, routes};
use tokio::time::Instant;

use super::body::Words;
use super::caller::Caller;
use super::refusal;
use crate::api::problem::Problem;
use crate::events::Change;
use crate::state::Coordinator;

/// Takes the beat down at once, then answers when there are routes, orders or another state, or when the hold
/// time is over.
pub(super) async fn beat(
    State(coordinator): State<Arc<Coordinator>>,
    caller: Caller,
    Words(request): Words<BeatRequest>,
) -> Result<Json<BeatAnswer>, Problem> {
    let hold = Duration::from_millis(request.hold_ms.min(limits::BEAT_HOLD_MS).into());
    let deadline = Instant::now() + hold;
    take_down(&coordinator, caller, &request).await?;
    let bell = coordinator.wakes.bell(caller.agent);
    loop {
        let rung = bell.notified();
        tokio::pin!(rung);
        // From here on no ring is missed, also not one while the database is asked.
        rung.as_mut().enable();
        let news = News::look(&coordinator, caller, &request).await?;
        if news.is_any(&request) || Instant::now() >= deadline {
            return Ok(Json(news.answer(&coordinator)));
        }
        tokio::select! {
            () = &mut rung => {}
            () = tokio::time::sleep_until(deadline) => {}
            () = coordinator.stop.cancelled() => return Ok(Json(news.answer(&coordinator))),
        }
    }
}

async fn take_down(coordinator: &Coordinator, caller: Caller, request: &BeatRequest) -> Result<(), Problem> {
    let now = coordinator.now();
    let asleep_until = match request.status.presence {
        Presence::Awake => None,
        // By the coordinator's clock: the agent's may be off.
        Presence::Asleep { until } => Some(now.plus_ms(until.0.saturating_sub(request.agent_time.0).max(0))),
    };
    let idle_reason = request.status.idle_reason.as_deref().map(plain);
    let status = WorkStatus { idle_reason, ..request.status.clone() };
    let status = serde_json::to_value(&status).map_err(|error| Problem::internal(&error))?;
    let beat = Beat {
        agent: caller.agent,
        protocol: request.protocol,
        asleep_until,
        status: &status,
        routes_after: request.routes_after,
    };
    let standing = agents::beat(&coordinator.store, &beat, coordinator.heard_since(), now).await?;
    let standing = standing.ok_or_else(refusal::unknown_agent)?;
    check_routes(request, standing)?;
    if standing.turned {
        coordinator.events.tell(Change::Agents);
        coordinator.pokes.drive_searches.notify_one();
        coordinator.pokes.improve_delegations.notify_one();
        coordinator.pokes.measure_landmarks.notify_one();
    }
    if standing.confirmed > 0 {
        coordinator.pokes.route_urls.notify_one();
    }
    Ok(())
}

/// Longest reason that is kept, in characters.
const REASON_CHARS: usize = 300;

/// One line of bounded length, as people and Postgres can read it.
fn plain(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(REASON_CHARS).collect()
}

/// An agent cannot have stored routes that were never made: it was enrolled with another database.
fn check_routes(request: &BeatRequest, standing: Standing) -> Result<(), Problem> {
    if request.routes_after <= standing.last_route {
        return Ok(());
    }
    let detail = format!(
        "The agent confirms route {} but only {} were made: its data directory belongs to another coordinator, or \
         this coordinator's \
         database was restored from an older copy. Give the agent a fresh data directory.",
        request.routes_after, standing.last_route
    );
    Err(Problem::new(StatusCode::CONFLICT, "routes-never-made", detail))
}

/// What there is for an agent at one moment.
struct News {
    state: AgentState,
    routes: Vec<Route>,
    probes: Vec<ProbeOrder>,
}

impl News {
    async fn look(coordinator: &Coordinator, caller: Caller, request: &BeatRequest) -> Result<Self, Problem> {
        let identity = agents::identity(&coordinator.store, caller.agent).await?;
        let state = identity.ok_or_else(refusal::unknown_agent)?.state;
        let awake = request.status.presence == Presence::Awake;
        if state != AgentState::Approved || !awake {
            return Ok(Self { state, routes: Vec::new(), probes: Vec::new() });
        }
        let most = limits::ROUTES_A_BEAT.min(coordinator.config.limits.routes_per_beat as usize);
        let routes = routes::after(&coordinator.store, caller.agent, request.routes_after, most).await?;
        let (taken, samples) = (&request.probes_taken, coordinator.policy.load().samples);
        let orders = probes::orders(&coordinator.store, caller.agent, taken, samples, limits::PROBES_A_BEAT);
        Ok(Self { state, routes, probes: orders.await? })
    }

    /// Whether it is worth an answer at once. A sleeping agent does not wait.
    fn is_any(&self, request: &BeatRequest) -> bool {
        let asleep = request.status.presence != Presence::Awake;
        asleep || self.state != request.state || !self.routes.is_empty() || !self.probes.is_empty()
    }

    fn answer(self, coordinator: &Coordinator) -> BeatAnswer {
        BeatAnswer {
            coordinator_time: coordinator.now(),
            state: self.state,
            routes: self.routes,
            probes: self.probes,
            policy: coordinator.policy.load().crawl,
        }
    }
}
