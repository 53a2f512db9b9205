//! A fake coordinator: tests set its state; it verifies every package and records every message.

mod bundles;
mod downloads;
mod packages;
mod region;
mod sessions;

use std::{
    collections::{BTreeMap, BTreeSet},
    net::Ipv4Addr,
    sync::{Arc, LazyLock, Mutex, MutexGuard},
    time::Duration,
};

use axum::{
    Json, Router,
    body::Bytes,
    extract::{DefaultBodyLimit, State},
    http::{HeaderMap, HeaderName, StatusCode, header},
    response::{IntoResponse, Response},
    routing::{get, post, put},
};
use crawler_agent::clock;
use model::{AgentId, AgentState, CrawlPolicy, ProbeId, UnixMillis};
use protocol::{
    BundleOffer, HeartbeatRequest, HeartbeatResponse, HostOrder, Presence, ProbeOrder, ProbeResult,
    Route, join_token::JoinToken, key::CoordinatorKey, key::PublicKey, page::Entry, page::Fetch,
    probe::Reports, problem,
};
use serde_json::json;
use tokio::{net::TcpListener, sync::Notify, task::AbortHandle};

/// Key of the coordinator that made [`TOKEN`].
pub(crate) const KEY: [u8; 32] = [7; 32];

/// The only token that is accepted.
pub(crate) static TOKEN: LazyLock<String> = LazyLock::new(|| {
    let key = CoordinatorKey::from_seed(KEY).public();
    JoinToken::new([8; 20], &key).as_str().to_owned()
});

const AGENT: AgentId = AgentId::new(1);

/// State of the coordinator. Tests read and change it directly.
#[expect(clippy::struct_excessive_bools, reason = "switches that are independent")]
pub(crate) struct CoordinatorState {
    /// How far its clock is ahead.
    pub(crate) clock_ahead_ms: i64,
    pub(crate) key: Option<PublicKey>,
    /// Seed of the key that signs answers.
    pub(crate) signs_with: [u8; 32],
    pub(crate) state: AgentState,
    pub(crate) policy: CrawlPolicy,
    pub(crate) next_route: u64,
    pub(crate) routes: BTreeMap<u64, Route>,
    pub(crate) orders: BTreeMap<ProbeId, ProbeOrder>,
    pub(crate) reports: BTreeMap<ProbeId, ProbeResult>,
    pub(crate) packages: BTreeMap<(u64, u64), Bytes>,
    pub(crate) duplicates: u32,
    pub(crate) entries: Vec<Entry>,
    pub(crate) heartbeats: Vec<HeartbeatRequest>,
    pub(crate) sessions: BTreeSet<String>,
    pub(crate) sessions_opened: u32,
    /// How many of the next nonces are refused.
    pub(crate) refuse_nonces: u32,
    /// Host orders, sent until they are confirmed.
    pub(crate) host_orders: Vec<HostOrder>,
    /// Bundles that the agent sent, by their orders.
    pub(crate) bundles: BTreeMap<u64, Bytes>,
    /// Bundles that are offered to the agent until it has taken them.
    pub(crate) offers: Vec<BundleOffer>,
    /// Whether bundles do not arrive, as on a slow line.
    pub(crate) holds_bundles: bool,
    /// How many bundles the agent is reading.
    pub(crate) bundles_being_read: u32,
    /// Status with which the next upload of a bundle is refused.
    pub(crate) refuse_bundle_once: Option<u16>,
    /// Numbers of confirmed orders, in the order of their confirmation.
    pub(crate) confirmed: Vec<u64>,
    pub(crate) lease_ms: u64,
    /// Whether it lost what agents sent before this moment.
    pub(crate) contents_lost_before: Option<UnixMillis>,
    /// Whether the agent has the roster of a region; it asks for one where its owner wants that.
    pub(crate) is_in_region: bool,
    /// Whether every answer repeats all orders, also those that the agent has accepted.
    pub(crate) repeats_orders: bool,
    /// Status and detail with which every call is refused.
    pub(crate) refuse_all: Option<(u16, &'static str)>,
    /// Calls that were refused so.
    pub(crate) calls_refused: u32,
    /// Status with which every package is refused.
    pub(crate) refuse_packages: Option<u16>,
    /// Answer of a proxy to every package, with its status.
    pub(crate) proxy_refuses_packages: Option<u16>,
    /// Packages that the proxy refused.
    pub(crate) refused_by_proxy: u32,
    /// Whether uploads of packages break in the middle.
    pub(crate) cuts_packages: bool,
    /// What arrived of packages whose uploads broke.
    pub(crate) partial_packages: BTreeMap<(u64, u64), Bytes>,
    /// Uploads of packages from their first byte.
    pub(crate) whole_uploads: u32,
    /// Redirect with which a proxy answers every call: status and target.
    pub(crate) redirect_all: Option<(u16, String)>,
    pub(crate) downloads: downloads::Downloads,
}

impl CoordinatorState {
    pub(crate) fn fetches(&self) -> impl Iterator<Item = &Fetch> {
        self.entries.iter().filter_map(|entry| match entry {
            Entry::Fetch(fetch) => Some(&**fetch),
            Entry::Discovered(_) => None,
        })
    }

    pub(crate) fn discovered(&self) -> Vec<String> {
        let discovered = self.entries.iter().filter_map(|entry| match entry {
            Entry::Fetch(_) => None,
            Entry::Discovered(discovered) => Some(discovered.url.clone()),
        });
        discovered.collect()
    }

    pub(crate) fn fetch(&self, url: &str) -> Option<&Fetch> {
        self.fetches().find(|fetch| fetch.url == url)
    }

    pub(crate) fn asleep(&self) -> bool {
        self.heartbeats
            .last()
            .is_some_and(|heartbeat| matches!(heartbeat.status.presence, Presence::Asleep { .. }))
    }
}

struct Inner {
    state: Mutex<CoordinatorState>,
    changed: Notify,
}

pub(crate) struct Coordinator {
    inner: Arc<Inner>,
    port: u16,
    serving: Mutex<AbortHandle>,
}

impl Coordinator {
    pub(crate) async fn start() -> Self {
        let state = CoordinatorState {
            clock_ahead_ms: 0,
            key: None,
            signs_with: KEY,
            state: AgentState::Pending,
            policy: CrawlPolicy { host_delay_ms: 0, ..CrawlPolicy::default() },
            next_route: 1,
            routes: BTreeMap::new(),
            orders: BTreeMap::new(),
            reports: BTreeMap::new(),
            packages: BTreeMap::new(),
            duplicates: 0,
            entries: Vec::new(),
            heartbeats: Vec::new(),
            sessions: BTreeSet::new(),
            sessions_opened: 0,
            refuse_nonces: 0,
            host_orders: Vec::new(),
            bundles: BTreeMap::new(),
            offers: Vec::new(),
            holds_bundles: false,
            bundles_being_read: 0,
            refuse_bundle_once: None,
            confirmed: Vec::new(),
            lease_ms: 3_600_000,
            contents_lost_before: None,
            is_in_region: false,
            calls_refused: 0,
            repeats_orders: false,
            refuse_all: None,
            refuse_packages: None,
            proxy_refuses_packages: None,
            refused_by_proxy: 0,
            cuts_packages: false,
            partial_packages: BTreeMap::new(),
            whole_uploads: 0,
            redirect_all: None,
            downloads: downloads::Downloads::default(),
        };
        let inner = Arc::new(Inner { state: Mutex::new(state), changed: Notify::new() });
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let serving = Mutex::new(serve(listener, &inner));
        Self { inner, port, serving }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, CoordinatorState> {
        self.inner.state.lock().unwrap()
    }

    /// Changes the state, and answers heartbeats that are being held.
    pub(crate) fn change<T>(&self, change: impl FnOnce(&mut CoordinatorState) -> T) -> T {
        let changed = change(&mut self.state());
        self.inner.changed.notify_waiters();
        changed
    }

    pub(crate) fn approve(&self) {
        self.change(|state| state.state = AgentState::Approved);
    }

    pub(crate) fn route(&self, urls: &[String]) {
        self.change(|state| {
            for url in urls {
                let seq = state.next_route;
                state.next_route += 1;
                state.routes.insert(seq, Route { seq, url: url.clone(), redirects: 0 });
            }
        });
    }

    pub(crate) fn order(&self, order: ProbeOrder) {
        self.change(|state| state.orders.insert(order.probe, order));
    }

    /// Stops serving and forgets all sessions, as after kill -9.
    pub(crate) fn go_away(&self) {
        self.serving.lock().unwrap().abort();
        self.state().sessions.clear();
    }

    pub(crate) async fn come_back(&self) {
        let listener = loop {
            match TcpListener::bind((Ipv4Addr::LOCALHOST, self.port)).await {
                Ok(listener) => break listener,
                // The old listener is not closed yet.
                Err(_) => tokio::task::yield_now().await,
            }
        };
        *self.serving.lock().unwrap() = serve(listener, &self.inner);
    }
}

impl Drop for Coordinator {
    fn drop(&mut self) {
        self.serving.lock().unwrap().abort();
    }
}

fn serve(listener: TcpListener, inner: &Arc<Inner>) -> AbortHandle {
    let app = Router::new()
        .route("/api/v1/agent/enrol", post(sessions::enrol))
        .route("/api/v1/agent/challenge", post(sessions::challenge))
        .route("/api/v1/agent/session", post(sessions::session))
        .route("/api/v1/agent/heartbeat", post(heartbeat))
        .route("/api/v1/agent/reports", post(reports))
        .route("/api/v1/agent/region", post(region::relay))
        .route("/api/v1/agent/leave", post(sessions::leave))
        .route(
            "/api/v1/agent/packages/{epoch}/{seq}",
            put(packages::take).head(packages::length).patch(packages::take_rest),
        )
        .route("/api/v1/agent/bundles/{order}", put(bundles::take).get(bundles::give))
        .route("/downloads/{name}", get(downloads::give))
        .layer(DefaultBodyLimit::max(64 << 20))
        .with_state(Arc::clone(inner));
    tokio::spawn(async move { drop(axum::serve(listener, app).await) }).abort_handle()
}

type Shared = State<Arc<Inner>>;
/// An answer of status 3xx or higher, with one header and a body.
type Refusal = (StatusCode, [(HeaderName, String); 1], String);
type Answer = Result<Response, Refusal>;

fn problem(status: u16, detail: &str) -> Refusal {
    let kind = match status {
        401 => problem::kind::NO_SESSION,
        403 => problem::kind::REVOKED,
        409 => problem::kind::PACKAGE_CONFLICT,
        426 => problem::kind::PROTOCOL_VERSION,
        _ => "test",
    };
    problem_of(kind, status, detail)
}

fn problem_of(kind: &str, status: u16, detail: &str) -> Refusal {
    let kind = format!("{}{kind}", problem::TYPE_PREFIX);
    let document = json!({ "type": kind, "title": "no", "status": status, "detail": detail });
    let media_type = [(header::CONTENT_TYPE, problem::MEDIA_TYPE.to_owned())];
    (StatusCode::from_u16(status).unwrap(), media_type, document.to_string())
}

fn answer_of_a_proxy(status: u16, header: HeaderName, value: String) -> Refusal {
    (StatusCode::from_u16(status).unwrap(), [(header, value)], "<h1>no</h1>".into())
}

impl Inner {
    fn state(&self) -> MutexGuard<'_, CoordinatorState> {
        self.state.lock().unwrap()
    }

    fn check(&self) -> Result<(), Refusal> {
        if let Some((status, target)) = &self.state().redirect_all {
            return Err(answer_of_a_proxy(*status, header::LOCATION, target.clone()));
        }
        let mut state = self.state();
        let Some((status, detail)) = state.refuse_all else { return Ok(()) };
        state.calls_refused += 1;
        Err(problem(status, detail))
    }

    fn authorise(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        self.check()?;
        let given = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let token = given.and_then(|given| given.strip_prefix("Bearer ")).unwrap_or_default();
        if self.state().sessions.contains(token) {
            Ok(())
        } else {
            Err(problem(401, "no such session"))
        }
    }
}

async fn heartbeat(
    State(inner): Shared,
    headers: HeaderMap,
    Json(request): Json<HeartbeatRequest>,
) -> Answer {
    inner.authorise(&headers)?;
    inner.state().heartbeats.push(request.clone());
    inner.changed.notify_waiters();
    let hold = tokio::time::Instant::now() + Duration::from_millis(request.hold_ms.into());
    loop {
        let changed = inner.changed.notified();
        if let Some(answer) = answer(&mut inner.state(), &request) {
            return Ok(Json(answer).into_response());
        }
        if tokio::time::timeout_at(hold, changed).await.is_err() {
            return Ok(Json(empty(&inner.state())).into_response());
        }
    }
}

fn empty(state: &CoordinatorState) -> HeartbeatResponse {
    HeartbeatResponse {
        coordinator_time: clock::now().plus_ms(state.clock_ahead_ms),
        state: state.state,
        routes: vec![],
        probes: vec![],
        host_orders: state.host_orders.clone(),
        bundles: state.offers.clone(),
        lease_ms: state.lease_ms,
        policy: state.policy,
        contents_lost_before: state.contents_lost_before,
        questions: Vec::new(),
    }
}

fn answer(state: &mut CoordinatorState, request: &HeartbeatRequest) -> Option<HeartbeatResponse> {
    state.routes.retain(|seq, _| *seq > request.routes_after);
    state.host_orders.retain(|order| !request.orders_done.contains(&order.number));
    state.offers.retain(|offer| !request.bundles_taken.contains(&offer.number));
    for number in &request.orders_done {
        if !state.confirmed.contains(number) {
            state.confirmed.push(*number);
        }
    }
    let mut answer = empty(state);
    if state.state == AgentState::Approved {
        answer.routes = state.routes.values().take(100).cloned().collect();
        let open = state.orders.values().filter(|order| {
            state.repeats_orders || !request.probes_accepted.contains(&order.probe)
        });
        if request.takes_probes {
            answer.probes = open.cloned().collect();
        }
    }
    let accepted =
        answer.host_orders.iter().all(|order| request.orders_accepted.contains(&order.number));
    let news = !answer.routes.is_empty()
        || !answer.bundles.is_empty()
        || !answer.probes.is_empty()
        || !accepted
        || request.state != state.state;
    news.then_some(answer)
}

async fn reports(State(inner): Shared, headers: HeaderMap, Json(reports): Json<Reports>) -> Answer {
    inner.authorise(&headers)?;
    let mut state = inner.state();
    for report in reports.probes {
        state.orders.remove(&report.probe);
        state.reports.insert(report.probe, report.result);
    }
    Ok(StatusCode::NO_CONTENT.into_response())
}
