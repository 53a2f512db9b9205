//! How soon the program leads, what its lists cost, and what heartbeats cost it.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use cluster::Cluster;
use model::{AgentId, AgentState, PlaceClaim, UnixMillis};
use protocol::session::{Challenge, ChallengeRequest, Session, SessionRequest};
use protocol::{HeartbeatRequest, Presence, WorkStatus, version};
use reqwest::Client;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::cities::Cities;
use crate::fill::{Scale, key};
use crate::program::Program;
use crate::{Figure, lists};

/// How long heartbeats are observed.
const OBSERVED: Duration = Duration::from_secs(60);

/// Starts the program and measures its start and the lists; with `with_load`, also its load.
pub(crate) async fn measure(
    cluster: &Cluster,
    dir: &Path,
    scale: Scale,
    with_load: bool,
) -> Vec<Figure> {
    let (program, mut log) = Program::start(cluster, dir);
    let texts = ["this coordinator is the leader", "the hierarchy is in use"];
    let [leader, ready] = log.until_all(texts).await;
    eprintln!("the hierarchy is in use after {:.1} s", ready.as_secs_f64());
    tokio::spawn(log.drain());
    program.settle().await;
    let mut figures = vec![Figure {
        name: "start to leader".to_owned(),
        value: leader.as_secs_f64(),
        most: 30.0,
        unit: "s",
    }];
    figures.extend(lists::measure(&program.base).await);
    if with_load {
        figures.push(load(&program, scale).await);
    }
    program.kill().await;
    figures
}

/// What heartbeats of all agents cost.
async fn load(program: &Program, scale: Scale) -> Figure {
    let agents = Agents::start(&program.base, scale.agents());
    tokio::time::sleep(Duration::from_secs(30)).await;
    let before = program.processor_time();
    let heartbeats = agents.heartbeats();
    tokio::time::sleep(OBSERVED).await;
    let used = program.processor_time().saturating_sub(before);
    let count = agents.heartbeats() - heartbeats;
    eprintln!("{count} heartbeats in {} s", OBSERVED.as_secs());
    assert!(count > 0, "agents send heartbeats");
    Figure {
        name: format!("processor of {} agents", scale.agents()),
        value: used.as_secs_f64() / OBSERVED.as_secs_f64() * 100.0,
        most: 20.0,
        unit: "% of a core",
    }
}

struct Agents {
    /// Dropping it ends the agents.
    working: JoinSet<()>,
    heartbeats: Arc<AtomicU64>,
}

impl Agents {
    fn start(base: &str, count: u32) -> Self {
        let client = client();
        let cities = Cities::new();
        let mut working = JoinSet::new();
        let heartbeats = Arc::new(AtomicU64::new(0));
        let at_once = Arc::new(Semaphore::new(20));
        for number in 1..=count {
            let agent = AgentId::new(number.into());
            let base = base.to_owned();
            let client = client.clone();
            let heartbeats = Arc::clone(&heartbeats);
            let at_once = Arc::clone(&at_once);
            let place = cities.claim(number.into());
            working.spawn(async move {
                let permit = at_once.acquire().await.unwrap();
                let token = sign_in(&client, &base, agent, number).await;
                drop(permit);
                let request = request(place);
                loop {
                    let url = format!("{base}/api/v1/agent/heartbeat");
                    let _: serde_json::Value = post(&client, url, &token, &request).await;
                    heartbeats.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        Self { working, heartbeats }
    }

    fn heartbeats(&self) -> u64 {
        assert!(!self.working.is_empty());
        self.heartbeats.load(Ordering::Relaxed)
    }
}

/// A client without the proxy of the environment.
pub(crate) fn client() -> Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder().no_proxy().timeout(Duration::from_secs(60)).build().unwrap()
}

async fn sign_in(client: &Client, base: &str, agent: AgentId, number: u32) -> String {
    let url = format!("{base}/api/v1/agent/challenge");
    let challenge: Challenge = post(client, url, "", &ChallengeRequest { agent }).await;
    let nonce = challenge.nonce;
    let request = SessionRequest::new(&key(number), agent, nonce.clone(), nonce);
    let url = format!("{base}/api/v1/agent/session");
    let session: Session = post(client, url, "", &request).await;
    session.token
}

async fn post<T: DeserializeOwned>(
    client: &Client,
    url: String,
    token: &str,
    body: &impl Serialize,
) -> T {
    let body = serde_json::to_vec(body).unwrap();
    let request =
        client.post(url).header("content-type", "application/json").bearer_auth(token).body(body);
    let response = request.send().await.unwrap();
    assert!(response.status().is_success(), "{:?}", response.text().await);
    serde_json::from_slice(&response.bytes().await.unwrap()).unwrap()
}

fn request(place: Option<PlaceClaim>) -> HeartbeatRequest {
    HeartbeatRequest {
        protocol: version::CURRENT,
        agent_time: UnixMillis(0),
        hold_ms: 30_000,
        routes_after: 0,
        state: AgentState::Approved,
        probes_accepted: vec![],
        orders_done: vec![],
        orders_accepted: vec![],
        bundles_taken: vec![],
        policy: None,
        url_statuses: Vec::new(),
        takes_probes: true,
        wants_region: true,
        place,
        profile: None,
        status: WorkStatus { presence: Presence::Awake, queued: 100, idle_reason: None },
    }
}
