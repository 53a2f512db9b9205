//! A database server that is gone without a word: nothing closes its connections.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use reqwest::{Client, StatusCode};
use serde_json::json;
use store::{Address, testing};
use tempfile::TempDir;
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::watch;
use tokio::time::timeout;

use crate::world::{Ground, PATIENCE, Running, until, until_for};

/// Where the server listens in its directory.
const SOCKET: &str = ".s.PGSQL.5432";

/// Passes connections on to the database server, until that seems to be gone.
struct Network {
    dir: TempDir,
    database: String,
    cuts: Arc<watch::Sender<u32>>,
}

impl Network {
    fn to_database_of(ground: &Ground) -> Self {
        let url = ground.database_url();
        let (_, path) = url.split_once('@').unwrap();
        let (host, database) = path.split_once('/').unwrap();
        let server = PathBuf::from(host.replace("%2F", "/")).join(SOCKET);
        let dir = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(dir.path().join(SOCKET)).unwrap();
        let cuts = Arc::new(watch::Sender::default());
        tokio::spawn(pass_on(listener, server, Arc::clone(&cuts)));
        Self { dir, database: database.to_owned(), cuts }
    }

    fn address(&self) -> Address {
        let host = self.dir.path().display().to_string().replace('/', "%2F");
        Address::url(&format!("postgres://nearcrawl@{host}/{}", self.database)).unwrap()
    }

    /// From now on, nothing passes on the connections that are open, and they stay open.
    fn cut(&self) {
        self.cuts.send_modify(|cuts| *cuts += 1);
    }
}

async fn pass_on(listener: UnixListener, server: PathBuf, cuts: Arc<watch::Sender<u32>>) {
    while let Ok((client, _)) = listener.accept().await {
        let cut = cuts.subscribe();
        let server = server.clone();
        tokio::spawn(async move { connection(client, &server, cut).await });
    }
}

async fn connection(mut client: UnixStream, server: &Path, mut cut: watch::Receiver<u32>) {
    let mut server = UnixStream::connect(server).await.unwrap();
    tokio::select! {
        _ = tokio::io::copy_bidirectional(&mut client, &mut server) => {}
        _ = cut.changed() => {
            // The server's side notices the end; the coordinator's side hears nothing.
            drop(server);
            std::future::pending::<()>().await;
        }
    }
}

#[tokio::test]
async fn what_waits_for_a_server_that_is_gone_goes_on_with_the_next_one() {
    let ground = Ground::new().await;
    let network = Network::to_database_of(&ground);
    let running = ground.start_through(&network.address()).await;
    running.until_hierarchy_is_loaded().await;
    until("it leads", async || running.coordinator.is_leader()).await;

    // A statement of a task that runs at every coordinator waits for one table, that of a request
    // for another, and one that has the lock of the delegation table for a third.
    let policy = testing::begin(ground.store(), "LOCK TABLE policy, admins").await.unwrap();
    let request = tokio::spawn(sign_in(running.base.clone()));
    until("a task waits", async || waits(&ground, POLICY_WAITS).await).await;
    until("a request waits", async || waits(&ground, ADMINS_WAIT).await).await;
    let delegations = testing::begin(ground.store(), "LOCK TABLE delegations").await.unwrap();
    let notice = "SELECT pg_notify('nearcrawl_delegations', '')";
    testing::execute(ground.store(), notice).await.unwrap();
    until("the delegation table is locked", async || {
        let writing = running.coordinator.hierarchy.writing();
        timeout(Duration::from_millis(100), writing).await.is_err()
    })
    .await;
    let runs_before = runs(&running);
    let term = running.coordinator.leader.since();
    network.cut();
    policy.rollback().await.unwrap();
    delegations.rollback().await.unwrap();

    let patience = 2 * PATIENCE;
    until_for(patience, "it leads again", async || {
        let since = running.coordinator.leader.since();
        since.is_some() && since != term
    })
    .await;
    // What waits is given up after half a minute, and the task pauses after that.
    let again = "the task that waited runs again";
    until_for(patience, again, async || runs(&running) > runs_before).await;
    assert_eq!(request.await.unwrap(), StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(sign_in(running.base.clone()).await, StatusCode::UNAUTHORIZED);
    running.stop().await;
}

/// How often the policy was read without a failure.
fn runs(running: &Running) -> u64 {
    let status = running.coordinator.statuses.all()["refresh_policy"].clone();
    status.runs - status.failures
}

const POLICY_WAITS: &str =
    "SELECT FROM pg_locks WHERE NOT granted AND relation = 'policy'::regclass";
const ADMINS_WAIT: &str =
    "SELECT FROM pg_locks WHERE NOT granted AND relation = 'admins'::regclass";

/// Whether a statement waits for a table.
async fn waits(ground: &Ground, waiting: &'static str) -> bool {
    testing::execute(ground.store(), waiting).await.unwrap() > 0
}

/// Tries to sign in as nobody.
async fn sign_in(base: String) -> StatusCode {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = Client::builder().no_proxy().timeout(2 * PATIENCE).build().unwrap();
    let request = client.post(format!("{base}/api/v1/session"));
    let credentials = json!({ "name": "nobody", "password": "not the password" });
    request.json(&credentials).send().await.unwrap().status()
}
