//! What becomes of good packages, of the same ones again, and of bad ones.

use std::path::PathBuf;

use coordinator::placement::agent_administration::AgentAction;
use protocol::key::AgentKey;
use protocol::package::{self, PackageName};
use reqwest::StatusCode;
use store::testing;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use crate::agent::{EPOCH, FakeAgent, now, page, problem};
use crate::world::{Ground, Running, until};

async fn agent(running: &Running) -> FakeAgent {
    let agent = FakeAgent::enrol(running, 1).await;
    running.order(agent.id, AgentAction::Approve).await;
    agent
}

#[tokio::test]
async fn the_same_package_is_taken_once_and_another_under_its_number_never() {
    let ground = Ground::bare().await;
    let running = ground.start().await;
    let agent = agent(&running).await;
    let bytes = agent.package(1, &[page("http://a.example/", "A", "a")]);
    assert_eq!(agent.ship_well(&running, 1, bytes.clone()).await, "stored");
    assert_eq!(agent.ship_well(&running, 1, bytes.clone()).await, "duplicate");
    let other = agent.package(1, &[page("http://b.example/", "B", "b")]);
    let (status, name, _) = problem(agent.ship(&running, 1, other).await).await;
    assert_eq!((status, name.as_str()), (StatusCode::CONFLICT, "package-conflict"));
    let dir = ground.packages().join(agent.id.to_string()).join(EPOCH.to_string()).join("0");
    let files: Vec<_> = std::fs::read_dir(dir).unwrap().map(|file| file.unwrap().path()).collect();
    assert_eq!(files.len(), 1);
    assert_eq!(std::fs::read(&files[0]).unwrap(), bytes);
    running.stop().await;
}

#[tokio::test]
async fn of_two_packages_that_race_for_a_number_one_is_kept() {
    let ground = Ground::bare().await;
    let running = ground.start().await;
    let agent = agent(&running).await;
    let dir = ground.packages().join(agent.id.to_string()).join(EPOCH.to_string()).join("0");
    let files = || -> Vec<PathBuf> {
        let read = std::fs::read_dir(&dir).into_iter().flatten();
        let paths = read.map(|file| file.unwrap().path());
        paths.filter(|path| path.extension().is_some_and(|it| it == "ncpk")).collect()
    };
    let packages = ["a", "b"].map(|text| agent.package(1, &[page("http://a.example/", "A", text)]));
    // Both bodies are stored before either package gets a position.
    let ledger = "SELECT FROM package_ledger FOR UPDATE";
    let locked = testing::begin(ground.store(), ledger).await.unwrap();
    let [one, two] = packages.clone().map(|bytes| agent.ship(&running, 1, bytes));
    let unlocked = async {
        until("both are stored", async || files().len() == 2).await;
        locked.rollback().await.unwrap();
    };
    let (one, two, ()) = tokio::join!(one, two, unlocked);
    let statuses = [one.status(), two.status()];
    assert!(statuses.contains(&StatusCode::OK), "{statuses:?}");
    assert!(statuses.contains(&StatusCode::CONFLICT), "{statuses:?}");
    let kept = &packages[usize::from(statuses[1] == StatusCode::OK)];
    let [file] = &files()[..] else { panic!("{:?}", files()) };
    assert_eq!(&std::fs::read(file).unwrap(), kept);
    running.stop().await;
}

#[tokio::test]
async fn bad_packages_are_refused_with_their_reason_and_leave_nothing() {
    let ground = Ground::bare().await;
    let running = ground.start().await;
    let agent = agent(&running).await;
    let good = agent.package(1, &[page("http://a.example/", "A", "a")]);
    let mut changed = good.clone();
    *changed.last_mut().unwrap() ^= 1;
    let name = PackageName { agent: agent.id, epoch: EPOCH, seq: 1 };
    let stranger = AgentKey::from_seed([9; 32]);
    let entries = [page("http://a.example/", "A", "a")];
    let forged = package::build(&entries, name, now(), &stranger).unwrap().bytes;
    let cases = [
        (vec![], "package-magic"),
        (b"no package".to_vec(), "package-magic"),
        (good[..20].to_vec(), "package-truncated"),
        (good[..good.len() - 3].to_vec(), "package-body-hash"),
        (changed, "package-body-hash"),
        (forged, "package-signature"),
        (agent.package(2, &[]), "package-name"),
    ];
    for (bytes, expected) in cases {
        let (status, name, _) = problem(agent.ship(&running, 1, bytes).await).await;
        assert_eq!((status, name.as_str()), (StatusCode::UNPROCESSABLE_ENTITY, expected));
    }
    let (status, name, _) = problem(agent.ship(&running, 0, good.clone()).await).await;
    assert_eq!((status, name.as_str()), (StatusCode::UNPROCESSABLE_ENTITY, "package-name"));
    let too_large = vec![0; protocol::limits::PACKAGE_BYTES + 1];
    let (status, ..) = problem(agent.ship(&running, 1, too_large).await).await;
    assert_eq!(status, StatusCode::PAYLOAD_TOO_LARGE);
    let stored = std::fs::read_dir(ground.packages()).unwrap().map(|file| file.unwrap());
    let names: Vec<_> = stored.map(|file| file.file_name()).collect();
    assert_eq!(names, ["nearcrawl-storage"], "nothing was stored");
    assert_eq!(agent.ship_well(&running, 1, good).await, "stored");
    running.stop().await;
}

#[tokio::test]
async fn a_full_disk_refuses_new_packages_and_keeps_the_old() {
    let ground = Ground::bare().await;
    let running = ground.start().await;
    let agent = agent(&running).await;
    let first = agent.package(1, &[]);
    assert_eq!(agent.ship_well(&running, 1, first.clone()).await, "stored");
    running.stop().await;
    let running = ground.start_changed(|config| config.limits.min_free_mib = u32::MAX).await;
    let response = agent.ship(&running, 2, agent.package(2, &[])).await;
    assert_eq!(response.headers()["retry-after"], "300");
    let (status, name, _) = problem(response).await;
    assert_eq!((status, name.as_str()), (StatusCode::INSUFFICIENT_STORAGE, "disk-full"));
    assert_eq!(
        agent.ship_well(&running, 1, first).await,
        "duplicate",
        "what was taken stays taken"
    );
    running.stop().await;
}

/// Connections that promise a package and send only its beginning.
async fn slow_uploads(agent: &FakeAgent, running: &Running, count: u64) -> Vec<TcpStream> {
    let address = running.base.strip_prefix("http://").unwrap();
    let mut connections = Vec::new();
    for seq in 1..=count {
        let mut connection = TcpStream::connect(address).await.unwrap();
        let head = format!(
            "PUT /api/v1/agent/packages/{EPOCH}/{seq} HTTP/1.1\r\nhost: {address}\r\n\
             authorization: Bearer {}\r\ncontent-length: 16000000\r\n\r\nNCPK",
            agent.token
        );
        connection.write_all(head.as_bytes()).await.unwrap();
        connections.push(connection);
    }
    connections
}

#[tokio::test]
async fn slow_uploads_of_one_agent_do_not_block_others() {
    let ground = Ground::bare().await;
    let running = ground.start().await;
    let slow = agent(&running).await;
    let other = FakeAgent::approved(&running, 2).await;
    let _connections = slow_uploads(&slow, &running, 16).await;
    until("the slow agent has its share", || async {
        let response = slow.ship(&running, 99, slow.package(99, &[])).await;
        response.status() == StatusCode::TOO_MANY_REQUESTS
    })
    .await;
    assert_eq!(other.ship_well(&running, 1, other.package(1, &[])).await, "stored");
    running.stop().await;
}
