//! The calls of the agent.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::Context as _;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use axum::routing::{post, put};
use axum::{Json, Router};
use model::{AgentId, AgentState, CrawlPolicy, UnixMillis};
use protocol::enrol::{EnrolRequest, EnrolResponse};
use protocol::join_token::JoinToken;
use protocol::key::{CoordinatorKey, PublicKey};
use protocol::session::{Challenge, ChallengeRequest, Session, SessionRequest};
use protocol::{HeartbeatRequest, HeartbeatResponse, limits, package};
use serde_json::json;
use tokio::net::TcpListener;
use tokio::task::AbortHandle;

use super::routes::Routes;
use super::shipped::{Shipped, decode};

/// Token with which the agent enrols.
pub static TOKEN: LazyLock<String> =
    LazyLock::new(|| JoinToken::new([8; 20], &coordinator_key().public()).as_str().to_owned());

const AGENT: AgentId = AgentId::new(1);

/// Lease in each answer, long enough for any crawl of this benchmark.
const LEASE_MS: u64 = 3_600_000;

/// A coordinator with one agent. Dropping it stops it.
#[derive(Debug)]
pub struct Coordinator {
    shared: Arc<Shared>,
    port: u16,
    serving: AbortHandle,
}

#[derive(Debug)]
struct Shared {
    policy: CrawlPolicy,
    state: Mutex<AgentTraffic>,
}

/// What the agent is still to be sent, and what it has sent.
#[derive(Debug, Default)]
struct AgentTraffic {
    key: Option<PublicKey>,
    routes: Routes,
    packages: BTreeMap<(u64, u64), Bytes>,
    /// Entries of all packages, as their signed headers say.
    entries: u64,
}

impl Coordinator {
    /// Starts one that routes `seeds` and orders `policy`.
    pub async fn start(seeds: &[String], policy: CrawlPolicy) -> anyhow::Result<Self> {
        let state = AgentTraffic { routes: Routes::new(seeds), ..AgentTraffic::default() };
        let shared = Arc::new(Shared { policy, state: Mutex::new(state) });
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await;
        let listener = listener.context("cannot listen for the agent")?;
        let port = listener.local_addr().context("cannot listen for the agent")?.port();
        let serving = serve(listener, &shared);
        Ok(Self { shared, port, serving })
    }

    /// Base URL of the calls.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Number of entries in all packages so far.
    pub fn entries(&self) -> u64 {
        self.shared.state().entries
    }

    /// Everything that was shipped, decoded.
    pub fn shipped(&self) -> anyhow::Result<Shipped> {
        let state = self.shared.state();
        let Some(key) = state.key else { return Ok(Shipped::default()) };
        decode(&state.packages, &key).context("a package of the agent cannot be decoded")
    }
}

impl Drop for Coordinator {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, AgentTraffic> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn coordinator_key() -> CoordinatorKey {
    CoordinatorKey::from_seed([7; 32])
}

fn serve(listener: TcpListener, shared: &Arc<Shared>) -> AbortHandle {
    let app = Router::new()
        .route("/api/v1/agent/enrol", post(enrol))
        .route("/api/v1/agent/challenge", post(challenge))
        .route("/api/v1/agent/session", post(session))
        .route("/api/v1/agent/heartbeat", post(heartbeat))
        .route("/api/v1/agent/packages/{epoch}/{seq}", put(take_package))
        .layer(DefaultBodyLimit::max(limits::PACKAGE_BYTES + limits::JSON_BODY_BYTES))
        .with_state(Arc::clone(shared));
    tokio::spawn(async move { drop(axum::serve(listener, app).await) }).abort_handle()
}

type Answer = Result<Response, (StatusCode, String)>;

fn refused(error: &impl ToString) -> (StatusCode, String) {
    (StatusCode::UNPROCESSABLE_ENTITY, error.to_string())
}

async fn enrol(State(shared): State<Arc<Shared>>, Json(request): Json<EnrolRequest>) -> Answer {
    request.verify().map_err(|error| refused(&error))?;
    shared.state().key = Some(request.public_key);
    let state = AgentState::Approved;
    let answer = EnrolResponse::new(&coordinator_key(), &request, AGENT, state, now());
    Ok(Json(answer).into_response())
}

async fn challenge(Json(_): Json<ChallengeRequest>) -> Answer {
    Ok(Json(Challenge { nonce: "nonce".to_owned() }).into_response())
}

async fn session(State(shared): State<Arc<Shared>>, Json(request): Json<SessionRequest>) -> Answer {
    let key = shared.state().key.ok_or_else(|| refused(&"no agent has enrolled"))?;
    request.verify(&key).map_err(|error| refused(&error))?;
    let token = "session".to_owned();
    let answer = Session::new(&coordinator_key(), &request, token, limits::SESSION_SECONDS);
    Ok(Json(answer).into_response())
}

/// Answers at once when there is news, else at the end of the hold time, as the coordinator does.
async fn heartbeat(
    State(shared): State<Arc<Shared>>,
    Json(request): Json<HeartbeatRequest>,
) -> Answer {
    let routes = shared.state().routes.after(request.routes_after);
    let known = request.policy == Some(shared.policy) && request.state == AgentState::Approved;
    if routes.is_empty() && known {
        tokio::time::sleep(Duration::from_millis(request.hold_ms.into())).await;
    }
    let answer = HeartbeatResponse {
        coordinator_time: now(),
        state: AgentState::Approved,
        routes,
        probes: Vec::new(),
        host_orders: Vec::new(),
        bundles: Vec::new(),
        lease_ms: LEASE_MS,
        policy: shared.policy,
        contents_lost_before: None,
        questions: Vec::new(),
    };
    Ok(Json(answer).into_response())
}

async fn take_package(
    State(shared): State<Arc<Shared>>,
    Path(name): Path<(u64, u64)>,
    bytes: Bytes,
) -> Answer {
    let mut state = shared.state();
    let key = state.key.ok_or_else(|| refused(&"no agent has enrolled"))?;
    let entries = package::open(&bytes, &key).map_err(|error| refused(&error))?.header().entries;
    let duplicate = state.packages.insert(name, bytes).is_some();
    if !duplicate {
        state.entries += u64::from(entries);
    }
    let status = if duplicate { "duplicate" } else { "stored" };
    Ok(Json(json!({ "status": status })).into_response())
}

fn now() -> UnixMillis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    UnixMillis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}
