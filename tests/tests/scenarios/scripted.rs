//! Agents that report the round trips of the scenario and record every order that they receive.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use model::{AgentId, AgentState, ProbeId, ProbeMethod, UnixMillis};
use protocol::enrol::{AgentProfile, EnrolRequest, EnrolResponse};
use protocol::key::AgentKey;
use protocol::package::{FinishedPackage, PackageName};
use protocol::probe::Reports;
use protocol::session::{Challenge, ChallengeRequest, Session, SessionRequest};
use protocol::{
    HeartbeatRequest, HeartbeatResponse, Presence, ProbeOrder, ProbeReport, ProbeResult, WorkStatus,
};
use reqwest::{Client, RequestBuilder, Response, StatusCode};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tests::harness::Admin;

/// Round trip from the agent of this number to an address, in microseconds; `None` where that does
/// not answer.
pub(crate) type Measure = fn(usize, IpAddr) -> Option<u32>;

/// How long a heartbeat may be held, in milliseconds.
const HOLD_MS: u32 = 2_000;
/// A coordinator that hangs for so long is left for the next one.
const PATIENCE: Duration = Duration::from_secs(5);
/// Pause after a refusal or a broken connection.
const PAUSE: Duration = Duration::from_millis(100);

/// What one agent was told so far.
#[derive(Debug, Default, Clone)]
pub(crate) struct Told {
    /// How often each order was handed out, and where to.
    pub(crate) orders: BTreeMap<ProbeId, (IpAddr, u32)>,
    /// URLs it was given.
    pub(crate) urls: BTreeSet<String>,
}

/// An agent at work until the value is dropped.
pub(crate) struct Scripted {
    pub(crate) id: AgentId,
    told: Arc<Mutex<Told>>,
    work: tokio::task::JoinHandle<()>,
}

impl Scripted {
    /// Enrols agent `number` (from 127.0.1.`number`), lets it be approved, and sets it to work at
    /// these coordinators by turns.
    pub(crate) async fn start(
        number: usize,
        coordinators: &[SocketAddr],
        admin: &Admin,
        measure: Measure,
    ) -> Self {
        let token = admin.join_token(&format!("agent {number}")).await.unwrap();
        let mut desk = Desk::enrol(number, coordinators.to_vec(), token).await;
        admin.approve(desk.id).await.unwrap();
        let id = desk.id;
        let told = Arc::clone(&desk.told);
        let work = tokio::spawn(async move {
            loop {
                if desk.turn(measure).await.is_none() {
                    tokio::time::sleep(PAUSE).await;
                }
            }
        });
        Self { id, told, work }
    }

    /// What it was told so far.
    pub(crate) fn told(&self) -> Told {
        self.told.lock().unwrap().clone()
    }
}

impl Drop for Scripted {
    fn drop(&mut self) {
        self.work.abort();
    }
}

/// An agent's session at the coordinators, by turns.
pub(crate) struct Desk {
    number: usize,
    pub(crate) id: AgentId,
    pub(crate) key: AgentKey,
    client: Client,
    coordinators: Vec<SocketAddr>,
    turns: usize,
    token: String,
    state: AgentState,
    routes_after: u64,
    unreported: BTreeMap<ProbeId, ProbeReport>,
    told: Arc<Mutex<Told>>,
}

impl Desk {
    pub(crate) async fn enrol(
        number: usize,
        coordinators: Vec<SocketAddr>,
        join_token: String,
    ) -> Self {
        let home = Ipv4Addr::new(127, 0, 1, u8::try_from(number).unwrap());
        let client = Client::builder()
            .no_proxy()
            .local_address(IpAddr::from(home))
            .timeout(PATIENCE)
            .build()
            .unwrap();
        let key = AgentKey::from_seed([u8::try_from(number).unwrap(); 32]);
        let profile = AgentProfile {
            name: format!("agent {number}"),
            contact: "https://example.org/bot".into(),
            version: "0.1.0".into(),
            capacity_pages_per_day: 1_000_000,
            zone: "UTC".into(),
            spans: vec![],
            place: None,
        };
        let mut desk = Self {
            number,
            id: AgentId::new(0),
            client,
            coordinators,
            turns: 0,
            token: String::new(),
            state: AgentState::Pending,
            routes_after: 0,
            unreported: BTreeMap::new(),
            told: Arc::default(),
            key,
        };
        let request = EnrolRequest::new(&desk.key, join_token, profile, now(), "nonce".into());
        let answer: EnrolResponse = desk.ask("enrol", &request).await.unwrap();
        desk.id = answer.agent;
        desk
    }

    /// One heartbeat, and a report of what it brought. None when the coordinator of this turn was
    /// of no use.
    async fn turn(&mut self, measure: Measure) -> Option<()> {
        self.turns += 1;
        if self.token.is_empty() {
            self.sign_in().await?;
        }
        let heartbeat = self.heartbeat_request();
        let answer: HeartbeatResponse = self.ask("heartbeat", &heartbeat).await?;
        self.state = answer.state;
        for route in answer.routes {
            assert_eq!(route.seq, self.routes_after + 1, "numbers have no gaps");
            self.routes_after = route.seq;
            self.told.lock().unwrap().urls.insert(route.url);
        }
        for order in answer.probes {
            self.take(&order, measure);
        }
        self.report().await
    }

    fn take(&mut self, order: &ProbeOrder, measure: Measure) {
        self.told.lock().unwrap().orders.entry(order.probe).or_insert((order.address, 0)).1 += 1;
        let result = match measure(self.number, order.address) {
            Some(rtt_us) => ProbeResult::Measured { method: ProbeMethod::Tcp, rtt_us, samples: 3 },
            None => ProbeResult::Unreachable { reason: "tcp: no answer".into() },
        };
        self.unreported.insert(order.probe, ProbeReport { probe: order.probe, result });
    }

    async fn report(&mut self) -> Option<()> {
        if self.unreported.is_empty() {
            return Some(());
        }
        let reports = Reports { probes: self.unreported.values().cloned().collect() };
        self.send("reports", &reports).await?;
        self.unreported.clear();
        Some(())
    }

    /// Sends a package to the next coordinator. `None` when that was of no use.
    pub(crate) async fn ship(&mut self, package: &FinishedPackage) -> Option<()> {
        self.turns += 1;
        if self.token.is_empty() {
            self.sign_in().await?;
        }
        let PackageName { epoch, seq, .. } = package.header.name;
        let url = self.url(&format!("packages/{epoch}/{seq}"));
        let request = self.client.put(url).body(package.bytes.clone());
        self.answer(request, "package").await.map(drop)
    }

    async fn sign_in(&mut self) -> Option<()> {
        let challenge: Challenge =
            self.ask("challenge", &ChallengeRequest { agent: self.id }).await?;
        let request = SessionRequest::new(&self.key, self.id, challenge.nonce, "nonce".into());
        let session: Session = self.ask("session", &request).await?;
        self.token = session.token;
        Some(())
    }

    fn heartbeat_request(&self) -> HeartbeatRequest {
        HeartbeatRequest {
            protocol: protocol::version::CURRENT,
            agent_time: now(),
            hold_ms: HOLD_MS,
            routes_after: self.routes_after,
            state: self.state,
            probes_accepted: self.unreported.keys().copied().collect(),
            orders_done: Vec::new(),
            orders_accepted: Vec::new(),
            bundles_taken: Vec::new(),
            policy: None,
            url_statuses: Vec::new(),
            takes_probes: true,
            wants_region: true,
            place: None,
            profile: None,
            status: WorkStatus { presence: Presence::Awake, queued: 0, idle_reason: None },
        }
    }

    async fn ask<T: DeserializeOwned>(&mut self, what: &str, body: &impl Serialize) -> Option<T> {
        self.send(what, body).await?.json().await.ok()
    }

    async fn send(&mut self, what: &str, body: &impl Serialize) -> Option<Response> {
        let request = self.client.post(self.url(what)).json(body);
        self.answer(request, what).await
    }

    fn url(&self, what: &str) -> String {
        let coordinator = self.coordinators[self.turns % self.coordinators.len()];
        format!("http://{coordinator}/api/v1/agent/{what}")
    }

    async fn answer(&mut self, request: RequestBuilder, what: &str) -> Option<Response> {
        let response = request.bearer_auth(&self.token).send().await.ok()?;
        let status = response.status();
        if status == StatusCode::UNAUTHORIZED {
            self.token.clear();
        }
        // While it starts, or its database does, a coordinator says that it cannot.
        let busy = status.is_server_error() || status == StatusCode::UNAUTHORIZED;
        assert!(status.is_success() || busy, "{what}: {status} {}", response.text().await.unwrap());
        status.is_success().then_some(response)
    }
}

pub(crate) fn now() -> UnixMillis {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    UnixMillis(i64::try_from(since.as_millis()).unwrap())
}
