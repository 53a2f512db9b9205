//! An agent that does what a test says, in the words of the protocol.

use std::collections::HashSet;
use std::net::IpAddr;
use std::time::{Duration, Instant};

use coordinator::placement::agent_administration::AgentAction;
use model::{AgentId, AgentState, ProbeMethod, UnixMillis};
use protocol::enrol::{AgentProfile, EnrolRequest, EnrolResponse};
use protocol::join_token::JoinToken;
use protocol::key::{AgentKey, PublicKey};
use protocol::package::{self, PackageName};
use protocol::page::{ContentHash, Discovered, Entry, Fetch, Outcome, Page, Timing};
use protocol::session::{Challenge, ChallengeRequest, Session, SessionRequest};
use protocol::{
    HeartbeatRequest, HeartbeatResponse, Presence, ProbeOrder, ProbeReport, ProbeResult, Route,
    WorkStatus,
};
use reqwest::{Client, Response, StatusCode};
use serde::Serialize;
use serde_json::Value;

use crate::world::{PATIENCE, Running};

/// The epoch of every test agent.
pub(crate) const EPOCH: u64 = 7;

pub(crate) struct FakeAgent {
    pub(crate) key: AgentKey,
    coordinator_key: PublicKey,
    pub(crate) id: AgentId,
    pub(crate) client: Client,
    pub(crate) token: String,
    routes_after: u64,
    /// Host orders that the next heartbeats confirm.
    pub(crate) orders_done: Vec<u64>,
    /// Bundles that the next heartbeats say were taken.
    pub(crate) bundles_taken: Vec<u64>,
    known: HashSet<String>,
    state: AgentState,
}

/// A client whose connections come from `source`.
pub(crate) fn client(source: &str) -> Client {
    // Another test may have done it already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let source: IpAddr = source.parse().unwrap();
    Client::builder()
        .no_proxy()
        .local_address(source)
        .timeout(Duration::from_secs(40))
        .build()
        .unwrap()
}

pub(crate) fn now() -> UnixMillis {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    UnixMillis(i64::try_from(since.as_millis()).unwrap())
}

pub(crate) fn profile(seed: u8) -> AgentProfile {
    AgentProfile {
        name: format!("agent {seed}"),
        contact: "https://example.org/bot".into(),
        version: "0.1.0".into(),
        capacity_pages_per_day: 1_000,
        zone: "UTC".into(),
        spans: vec![],
        place: None,
    }
}

pub(crate) async fn post(
    client: &Client,
    url: String,
    token: &str,
    body: &impl Serialize,
) -> Response {
    let body = serde_json::to_vec(body).unwrap();
    let request =
        client.post(url).header("content-type", "application/json").bearer_auth(token).body(body);
    request.send().await.unwrap()
}

/// Status, name of the problem and its sentence.
pub(crate) async fn problem(response: Response) -> (StatusCode, String, String) {
    let status = response.status();
    let kind =
        response.headers().get("content-type").map(|value| value.to_str().unwrap().to_owned());
    let text = response.text().await.unwrap();
    assert_eq!(kind.as_deref(), Some("application/problem+json"), "{status} {text}");
    let body: Value = serde_json::from_str(&text).unwrap();
    let name = body["type"].as_str().unwrap().rsplit(':').next().unwrap().to_owned();
    (status, name, body["detail"].as_str().unwrap().to_owned())
}

/// The front page of the machine on which an agent of [`FakeAgent::crawling`] lives.
pub(crate) const PAGE: &str = "http://127.0.0.1/";

impl FakeAgent {
    /// An approved agent that crawls its own machine, and knows of [`PAGE`].
    pub(crate) async fn crawling(running: &Running) -> Self {
        running.until_hierarchy_is_loaded().await;
        let mut agent = Self::approved(running, 1).await;
        running.add_seeds(&[PAGE]).await;
        assert_eq!(agent.routes(running).await[0].url, PAGE);
        agent
    }

    /// Enrolled from 127.0.0.`seed`, approved, and heard of.
    pub(crate) async fn approved(running: &Running, seed: u8) -> Self {
        let mut agent = Self::enrol(running, seed).await;
        running.order(agent.id, AgentAction::Approve).await;
        agent.heartbeat(running, 0).await;
        agent
    }

    /// Enrolled from 127.0.0.`seed`, pending.
    pub(crate) async fn enrol(running: &Running, seed: u8) -> Self {
        let token = running.join_token().await;
        Self::enrol_with(running, seed, token).await
    }

    /// Enrolled from 127.0.0.`seed` with this join token, pending.
    pub(crate) async fn enrol_with(running: &Running, seed: u8, token: String) -> Self {
        let client = client(&format!("127.0.0.{seed}"));
        let key = AgentKey::from_seed([seed; 32]);
        let maker = token.parse::<JoinToken>().unwrap().coordinator();
        let request = EnrolRequest::new(&key, token, profile(seed), now(), "nonce".into());
        let response =
            post(&client, format!("{}/api/v1/agent/enrol", running.base), "", &request).await;
        assert_eq!(response.status(), StatusCode::OK);
        let answer: EnrolResponse = response.json().await.unwrap();
        answer.verify(maker, &request).unwrap();
        let mut agent = Self {
            key,
            coordinator_key: answer.coordinator_key,
            id: answer.agent,
            client,
            token: String::new(),
            routes_after: 0,
            orders_done: vec![],
            bundles_taken: vec![],
            known: HashSet::new(),
            state: answer.state,
        };
        agent.sign_in(running).await;
        agent
    }

    pub(crate) async fn nonce(&self, running: &Running) -> String {
        let request = ChallengeRequest { agent: self.id };
        let response = self.post(running, "challenge", &request).await;
        response.json::<Challenge>().await.unwrap().nonce
    }

    pub(crate) async fn sign_in(&mut self, running: &Running) {
        let nonce = self.nonce(running).await;
        let request = SessionRequest::new(&self.key, self.id, nonce, "nonce".into());
        let response = self.post(running, "session", &request).await;
        assert_eq!(response.status(), StatusCode::OK);
        let session: Session = response.json().await.unwrap();
        session.verify(&self.coordinator_key, &request).unwrap();
        self.token = session.token;
    }

    pub(crate) async fn post(
        &self,
        running: &Running,
        what: &str,
        body: &impl Serialize,
    ) -> Response {
        post(&self.client, format!("{}/api/v1/agent/{what}", running.base), &self.token, body).await
    }

    pub(crate) fn heartbeat_request(&self, hold_ms: u32) -> HeartbeatRequest {
        HeartbeatRequest {
            protocol: protocol::version::CURRENT,
            agent_time: now(),
            hold_ms,
            routes_after: self.routes_after,
            state: self.state,
            probes_accepted: vec![],
            orders_done: self.orders_done.clone(),
            orders_accepted: vec![],
            bundles_taken: self.bundles_taken.clone(),
            policy: None,
            url_statuses: Vec::new(),
            takes_probes: true,
            wants_region: true,
            place: None,
            profile: None,
            status: WorkStatus { presence: Presence::Awake, queued: 0, idle_reason: None },
        }
    }

    /// One heartbeat; routes are confirmed by the next one.
    pub(crate) async fn heartbeat(&mut self, running: &Running, hold_ms: u32) -> HeartbeatResponse {
        let response = self.post(running, "heartbeat", &self.heartbeat_request(hold_ms)).await;
        assert_eq!(response.status(), StatusCode::OK, "{}", response.text().await.unwrap());
        let answer: HeartbeatResponse = response.json().await.unwrap();
        self.state = answer.state;
        for route in &answer.routes {
            assert!(route.seq > self.routes_after, "numbers rise");
            self.routes_after = route.seq;
        }
        answer
    }

    /// The orders of searches and checks that one heartbeat brings. Orders to measure the homes of
    /// other agents stay open.
    pub(crate) async fn new_orders(&mut self, running: &Running, hold_ms: u32) -> Vec<ProbeOrder> {
        let mut orders = self.heartbeat(running, hold_ms).await.probes;
        orders.retain(|order| !order.address.is_loopback());
        orders
    }

    /// Heartbeats until there are such orders, and gives them. Not a number of heartbeats: while an
    /// order to measure a home is open, each is answered at once.
    pub(crate) async fn orders(&mut self, running: &Running) -> Vec<ProbeOrder> {
        let started = Instant::now();
        while started.elapsed() < PATIENCE {
            let orders = self.new_orders(running, 3_000).await;
            if !orders.is_empty() {
                return orders;
            }
        }
        panic!("no orders came");
    }

    /// Heartbeats until there are routes to URLs not seen before, and gives them.
    pub(crate) async fn routes(&mut self, running: &Running) -> Vec<Route> {
        let started = Instant::now();
        while started.elapsed() < PATIENCE {
            let answer = self.heartbeat(running, 3_000).await;
            let new: Vec<Route> = answer
                .routes
                .into_iter()
                .filter(|route| self.known.insert(route.url.clone()))
                .collect();
            if !new.is_empty() {
                return new;
            }
        }
        panic!("no routes came");
    }

    pub(crate) async fn measured(&self, running: &Running, order: &ProbeOrder, rtt_us: u32) {
        let result = ProbeResult::Measured { method: ProbeMethod::Tcp, rtt_us, samples: 3 };
        self.report(running, order, result).await;
    }

    pub(crate) async fn report(&self, running: &Running, order: &ProbeOrder, result: ProbeResult) {
        let report = ProbeReport { probe: order.probe, result };
        let reports = protocol::probe::Reports { probes: vec![report] };
        let response = self.post(running, "reports", &reports).await;
        assert_eq!(response.status(), StatusCode::NO_CONTENT);
    }

    pub(crate) fn package(&self, seq: u64, entries: &[Entry]) -> Vec<u8> {
        let name = PackageName { agent: self.id, epoch: EPOCH, seq };
        package::build(entries, name, now(), &self.key).unwrap().bytes
    }

    pub(crate) async fn ship(&self, running: &Running, seq: u64, bytes: Vec<u8>) -> Response {
        let url = format!("{}/api/v1/agent/packages/{EPOCH}/{seq}", running.base);
        self.client.put(&url).bearer_auth(&self.token).body(bytes).send().await.unwrap()
    }

    pub(crate) async fn send_bundle(&self, running: &Running, order: u64, body: &str) -> Response {
        let request = self.client.put(format!("{}/api/v1/agent/bundles/{order}", running.base));
        request.bearer_auth(&self.token).body(body.to_owned()).send().await.unwrap()
    }

    pub(crate) async fn read_bundle(&self, running: &Running, order: u64) -> Response {
        let request = self.client.get(format!("{}/api/v1/agent/bundles/{order}", running.base));
        request.bearer_auth(&self.token).send().await.unwrap()
    }

    /// Ships and gives the receipt's word.
    pub(crate) async fn ship_well(&self, running: &Running, seq: u64, bytes: Vec<u8>) -> String {
        let response = self.ship(running, seq, bytes).await;
        let status = response.status();
        let text = response.text().await.unwrap();
        assert_eq!(status, StatusCode::OK, "{text}");
        serde_json::from_str::<Value>(&text).unwrap()["status"].as_str().unwrap().to_owned()
    }
}

/// A page with this text.
pub(crate) fn page(url: &str, title: &str, text: &str) -> Entry {
    let page = Page {
        status: 200,
        media_type: "text/html".into(),
        charset: "utf-8".into(),
        lang: Some("en".into()),
        title: title.into(),
        headings: String::new(),
        text: text.into(),
        sha256: ContentHash::default(),
        canonical: None,
        max_snippet: None,
        links: Vec::new(),
    };
    fetch(url, Outcome::Page(page))
}

pub(crate) fn fetch(url: &str, outcome: Outcome) -> Entry {
    Entry::Fetch(Box::new(Fetch {
        url: url.into(),
        fetched_at: now(),
        address: None,
        timing: Some(Timing {
            connect_us: 1_000,
            tcp_us: 1_000,
            first_byte_us: 2_000,
            total_us: 3_000,
        }),
        wire_bytes: 500,
        outcome,
        trend: None,
    }))
}

pub(crate) fn link(url: &str) -> Entry {
    Entry::Discovered(Discovered { url: url.into(), redirects: 0, handed_back: false })
}
