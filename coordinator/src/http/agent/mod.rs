//! The coordinator's side of the agent protocol: `/api/v1/agent/…`.
//!
//! In the order of an agent's life: [`enrol`], [`session`] (challenge and token), [`heartbeat`],
//! [`reports`], [`packages`], [`bundles`], [`region`], [`leave`]. Every refusal is a problem
//! document with the remedy.

mod body;
mod bundles;
mod caller;
mod enrol;
mod heartbeat;
mod heartbeat_rate;
mod leave;
mod packages;
mod refusal;
mod region;
mod reports;
mod resumption;
mod session;
pub mod tokens;
mod upload;

use std::sync::Arc;

use ::region::relay::RELAY_BYTES;
use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::header;
use axum::routing::{post, put};
use model::UnixMillis;
use protocol::key::CoordinatorKey;
use protocol::limits;
use store::Store;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::http::agent::heartbeat_rate::HeartbeatRate;
use crate::http::agent::tokens::Tokens;
use crate::http::router::header_layer;
use crate::packages::Packages;
use crate::packages::upload_limits::UploadLimits;
use crate::placement::Placement;
use crate::placement::regions::Regions;
use crate::runtime::agent_wakeups::AgentWakeups;
use crate::runtime::clock::Clock;
use crate::runtime::config::Limits;
use crate::runtime::events::Events;
use crate::runtime::metrics::probes::ProbeMetrics;
use crate::runtime::peer_hints::PeerHints;
use crate::runtime::policy::CurrentPolicy;
use crate::tasks::coordinator::Coordinator;

/// The parts that the agents' handlers use; cheap to clone.
#[derive(Clone)]
struct AgentApi {
    store: Store,
    limits: Limits,
    clock: Arc<dyn Clock>,
    events: Arc<Events>,
    policy: Arc<CurrentPolicy>,
    agent_wakeups: Arc<AgentWakeups>,
    /// Notified when agents have answered questions about URLs.
    url_answers: Arc<Notify>,
    peer_hints: Arc<PeerHints>,
    packages: Arc<Packages>,
    regions: Arc<Regions>,
    /// Bounds the bodies of calls about regions.
    relays: Arc<UploadLimits>,
    placement: Arc<Placement>,
    probe_metrics: ProbeMetrics,
    tokens: Arc<Tokens>,
    key: Arc<CoordinatorKey>,
    heartbeat_rate: Arc<HeartbeatRate>,
    contents_lost_before: Option<UnixMillis>,
    /// Cancelled when the coordinator stops: held heartbeats are answered then.
    stop: CancellationToken,
}

/// What the coordinators of a database have in common.
pub struct Installation {
    /// Issues nonces and session tokens.
    pub tokens: Tokens,
    /// Signs answers, so that agents know that this coordinator gave them.
    pub key: CoordinatorKey,
    /// When the database was restored from a backup; none if it never was.
    pub contents_lost_before: Option<UnixMillis>,
}

impl AgentApi {
    fn new(coordinator: &Coordinator, installation: Installation) -> Self {
        Self {
            store: coordinator.store.clone(),
            limits: coordinator.config.limits,
            clock: Arc::clone(&coordinator.clock),
            events: Arc::clone(&coordinator.events),
            policy: Arc::clone(&coordinator.policy),
            agent_wakeups: Arc::clone(&coordinator.agent_wakeups),
            url_answers: Arc::clone(&coordinator.url_answers),
            peer_hints: Arc::clone(&coordinator.peer_hints),
            packages: Arc::clone(&coordinator.packages),
            regions: Arc::clone(&coordinator.regions),
            relays: Arc::new(UploadLimits::of(RELAY_BYTES)),
            placement: Arc::clone(&coordinator.placement),
            probe_metrics: coordinator.predictor.probe_metrics.clone(),
            tokens: Arc::new(installation.tokens),
            key: Arc::new(installation.key),
            heartbeat_rate: Arc::default(),
            contents_lost_before: installation.contents_lost_before,
            stop: coordinator.stop.clone(),
        }
    }
}

/// Most bytes of a body before the sender is known: a profile with its spans.
const UNAUTHENTICATED_BODY_MAX: usize = 64 << 10;

/// The agents' part of the API. The server must hand the peer's address in as `ConnectInfo`.
pub fn router(coordinator: &Coordinator, installation: Installation) -> Router {
    let strangers = Router::new()
        .route("/api/v1/agent/enrol", post(enrol::enrol))
        .route("/api/v1/agent/challenge", post(session::challenge))
        .route("/api/v1/agent/session", post(session::session))
        .layer(DefaultBodyLimit::max(UNAUTHENTICATED_BODY_MAX));
    let words = Router::new()
        .route("/api/v1/agent/heartbeat", post(heartbeat::heartbeat))
        .route("/api/v1/agent/reports", post(reports::reports))
        .route("/api/v1/agent/leave", post(leave::leave))
        .layer(DefaultBodyLimit::max(limits::JSON_BODY_BYTES));
    let uploads = Router::new()
        // The handlers bound the bodies themselves.
        .route(
            "/api/v1/agent/packages/{epoch}/{seq}",
            put(packages::put).patch(packages::resume).head(packages::offset),
        )
        .route("/api/v1/agent/bundles/{order}", put(bundles::put).get(bundles::get))
        .route("/api/v1/agent/region", post(region::relay))
        .layer(DefaultBodyLimit::disable());
    strangers
        .merge(words)
        .merge(uploads)
        // No answer is a page, also where a browser is led here.
        .layer(header_layer(header::CONTENT_SECURITY_POLICY, "default-src 'none'"))
        .layer(header_layer(header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .with_state(AgentApi::new(coordinator, installation))
}
