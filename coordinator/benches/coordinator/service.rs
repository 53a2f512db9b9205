//! The program itself: how soon it leads, and what heartbeats cost it.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use cluster::Cluster;
use model::{AgentId, AgentState, UnixMillis};
use protocol::session::{Challenge, ChallengeRequest, Session, SessionRequest};
use protocol::{HeartbeatRequest, Presence, WorkStatus, version};
use reqwest::Client;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStderr, Command};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::Figure;
use crate::fill::{AGENTS, Scale, key};

/// How long heartbeats are observed.
const OBSERVED: Duration = Duration::from_secs(60);
/// The tasks rest when the program uses less than a twentieth of a core for so long.
const WINDOW: Duration = Duration::from_secs(15);
/// How long the hierarchy and the first runs of the tasks may take.
const SETTLED: Duration = Duration::from_secs(300);

pub(crate) async fn measure(cluster: &Cluster, dir: &Path, scale: Scale) -> Vec<Figure> {
    let (mut program, mut log) = Program::start(cluster, dir);
    let leader = log.until("this coordinator is the leader").await;
    let ready = log.until("the hierarchy is in use").await;
    eprintln!("the hierarchy is in use after {:.1} s", ready.as_secs_f64());
    tokio::spawn(log.drain());
    program.settle().await;
    let agents = Agents::start(&program.base, scale.of(AGENTS));
    tokio::time::sleep(Duration::from_secs(30)).await;
    let before = program.processor_time();
    let heartbeats = agents.heartbeats();
    tokio::time::sleep(OBSERVED).await;
    let used = program.processor_time().saturating_sub(before);
    let count = agents.heartbeats() - heartbeats;
    eprintln!("{count} heartbeats in {} s", OBSERVED.as_secs());
    assert!(count > 0, "agents send heartbeats");
    drop(agents);
    program.child.kill().await.unwrap();
    vec![
        Figure {
            name: "start to leader".to_owned(),
            value: leader.as_secs_f64(),
            most: 30.0,
            unit: "s",
        },
        Figure {
            name: format!("processor of {} agents", scale.of(AGENTS)),
            value: used.as_secs_f64() / OBSERVED.as_secs_f64() * 100.0,
            most: 20.0,
            unit: "% of a core",
        },
    ]
}

struct Program {
    child: Child,
    base: String,
}

/// The log of the program, line by line.
struct Log {
    lines: Lines<BufReader<ChildStderr>>,
    begun: Instant,
}

impl Program {
    fn start(cluster: &Cluster, dir: &Path) -> (Self, Log) {
        let socket = cluster.socket_dir().display().to_string().replace('/', "%2F");
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let begun = Instant::now();
        let mut child = Command::new(binary())
            .args(["serve", "--listen", &format!("127.0.0.1:{port}"), "--data-dir"])
            .arg(dir)
            .env("DATABASE_URL", format!("postgres://nearcrawl@{socket}/nearcrawl"))
            .env("RUST_LOG", "info")
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        (Self { child, base: format!("http://127.0.0.1:{port}") }, Log { lines, begun })
    }

    /// Waits until the first runs of the tasks are over, which work through the whole database.
    async fn settle(&self) {
        let rested = async {
            loop {
                let before = self.processor_time();
                tokio::time::sleep(WINDOW).await;
                if self.processor_time().saturating_sub(before) < WINDOW / 20 {
                    return;
                }
            }
        };
        tokio::time::timeout(SETTLED, rested).await.unwrap();
    }

    /// Processor time so far, of all threads.
    fn processor_time(&self) -> Duration {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id().unwrap()));
        let stat = stat.unwrap();
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
        let ticks: u64 = fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
        // Linux counts in hundredths of a second.
        Duration::from_millis(ticks * 10)
    }
}

impl Log {
    /// Waits for a line of the log. Returns the time since the start.
    async fn until(&mut self, text: &str) -> Duration {
        let seen = async {
            while let Some(line) = self.lines.next_line().await.unwrap() {
                if line.contains(text) {
                    return;
                }
            }
            panic!("the program ended before it said {text:?}");
        };
        tokio::time::timeout(SETTLED, seen).await.unwrap();
        self.begun.elapsed()
    }

    /// Reads on, so that the program can write on.
    async fn drain(mut self) {
        while let Ok(Some(_)) = self.lines.next_line().await {}
    }
}

/// The program beside this one.
fn binary() -> PathBuf {
    let this = std::env::current_exe().unwrap();
    this.ancestors().nth(2).unwrap().join("nearcrawl-coordinator")
}

struct Agents {
    /// Dropping it ends the agents.
    working: JoinSet<()>,
    heartbeats: Arc<AtomicU64>,
}

impl Agents {
    fn start(base: &str, count: u32) -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder().no_proxy().timeout(Duration::from_secs(60)).build().unwrap();
        let mut working = JoinSet::new();
        let heartbeats = Arc::new(AtomicU64::new(0));
        let at_once = Arc::new(Semaphore::new(20));
        for number in 1..=count {
            let agent = AgentId::new(number.into());
            let base = base.to_owned();
            let client = client.clone();
            let heartbeats = Arc::clone(&heartbeats);
            let at_once = Arc::clone(&at_once);
            working.spawn(async move {
                let permit = at_once.acquire().await.unwrap();
                let token = sign_in(&client, &base, agent, number).await;
                drop(permit);
                loop {
                    let url = format!("{base}/api/v1/agent/heartbeat");
                    let _: serde_json::Value = post(&client, url, &token, &request()).await;
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

fn request() -> HeartbeatRequest {
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
        place: None,
        status: WorkStatus {
            presence: Presence::Awake,
            hosts: 5_000,
            queued: 100,
            in_flight: 10,
            fetched: 1,
            wire_bytes: 1,
            unshipped: 0,
            idle_reason: None,
        },
    }
}
