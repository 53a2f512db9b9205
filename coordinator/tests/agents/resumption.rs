//! Uploads that break go on where they ended.

use protocol::resumption::{REPR_DIGEST, UPLOAD_OFFSET, repr_digest};
use reqwest::{Method, RequestBuilder, StatusCode};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use crate::agent::{EPOCH, FakeAgent, page, problem};
use crate::world::{Ground, Running, until};

fn path(seq: u64) -> String {
    format!("/api/v1/agent/packages/{EPOCH}/{seq}")
}

fn request(agent: &FakeAgent, running: &Running, method: Method, bytes: &[u8]) -> RequestBuilder {
    let request = agent.client.request(method, format!("{}{}", running.base, path(1)));
    request.bearer_auth(&agent.token).header(REPR_DIGEST, repr_digest(bytes))
}

/// How much the coordinator has of a package.
async fn offset(agent: &FakeAgent, running: &Running, bytes: &[u8]) -> usize {
    let answer = request(agent, running, Method::HEAD, bytes).send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::NO_CONTENT);
    answer.headers()[UPLOAD_OFFSET].to_str().unwrap().parse().unwrap()
}

/// Sends the rest of a package from an offset.
async fn resume(
    agent: &FakeAgent,
    running: &Running,
    bytes: &[u8],
    offset: usize,
) -> (StatusCode, String) {
    let request = request(agent, running, Method::PATCH, bytes).header(UPLOAD_OFFSET, offset);
    let answer = request.body(bytes[offset..].to_vec()).send().await.unwrap();
    (answer.status(), answer.text().await.unwrap())
}

/// Sends `sent` bytes of a request for a whole or resumed package, and breaks the connection.
async fn break_off(agent: &FakeAgent, running: &Running, head: &str, bytes: &[u8], sent: &[u8]) {
    let address = running.base.strip_prefix("http://").unwrap();
    let mut connection = TcpStream::connect(address).await.unwrap();
    let head = format!(
        "{head}\r\nhost: {address}\r\nauthorization: Bearer {}\r\n{REPR_DIGEST}: {}\r\n\r\n",
        agent.token,
        repr_digest(bytes)
    );
    connection.write_all(head.as_bytes()).await.unwrap();
    connection.write_all(sent).await.unwrap();
    connection.shutdown().await.unwrap();
}

/// Breaks the upload of a whole package after half of it; returns how much has arrived.
async fn break_in_the_middle(agent: &FakeAgent, running: &Running, bytes: &[u8]) -> usize {
    let head = format!("PUT {} HTTP/1.1\r\ncontent-length: {}", path(1), bytes.len());
    let half = bytes.len() / 2;
    break_off(agent, running, &head, bytes, &bytes[..half]).await;
    until("the half is kept", || async { offset(agent, running, bytes).await == half }).await;
    half
}

fn large_package(agent: &FakeAgent) -> Vec<u8> {
    let pages: Vec<_> = (0..200)
        .map(|n| page(&format!("http://a.example/{n}"), "A", &format!("text {n}")))
        .collect();
    agent.package(1, &pages)
}

#[tokio::test]
async fn a_broken_upload_goes_on_at_the_byte_that_is_missing() {
    let ground = Ground::bare().await;
    let running = ground.start().await;
    let agent = FakeAgent::approved(&running, 1).await;
    let bytes = large_package(&agent);
    let half = break_in_the_middle(&agent, &running, &bytes).await;
    // The rest breaks, too.
    let rest = &bytes[half..];
    let head = format!(
        "PATCH {} HTTP/1.1\r\ncontent-length: {}\r\n{UPLOAD_OFFSET}: {half}",
        path(1),
        rest.len()
    );
    break_off(&agent, &running, &head, &bytes, &rest[..10]).await;
    until("ten more are kept", || async { offset(&agent, &running, &bytes).await == half + 10 })
        .await;
    let (status, receipt) = resume(&agent, &running, &bytes, half + 10).await;
    assert_eq!((status, receipt.as_str()), (StatusCode::OK, "{\"status\":\"stored\"}"));
    let dir = ground.packages().join(agent.id.to_string()).join(EPOCH.to_string()).join("0");
    let file = std::fs::read_dir(dir).unwrap().next().unwrap().unwrap();
    assert!(std::fs::read(file.path()).unwrap() == bytes, "the whole package, byte by byte");
    assert_eq!(offset(&agent, &running, &bytes).await, 0, "nothing is left of the parts");
    assert_eq!(agent.ship_well(&running, 1, bytes).await, "duplicate");
    running.stop().await;
}

#[tokio::test]
async fn another_offset_or_agent_or_package_does_not_go_on() {
    let ground = Ground::bare().await;
    let running = ground.start().await;
    let agent = FakeAgent::approved(&running, 1).await;
    let bytes = large_package(&agent);
    let half = break_in_the_middle(&agent, &running, &bytes).await;
    for wrong in [half - 1, half + 1] {
        let (status, text) = resume(&agent, &running, &bytes, wrong).await;
        assert_eq!(status, StatusCode::PRECONDITION_FAILED, "{text}");
        assert!(text.contains("upload-offset"), "{text}");
    }
    assert_eq!(offset(&agent, &running, &bytes).await, half, "what has arrived is still there");
    let other = FakeAgent::approved(&running, 2).await;
    assert_eq!(offset(&other, &running, &bytes).await, 0, "another agent's upload");
    let (status, _) = resume(&other, &running, &bytes, half).await;
    assert_eq!(status, StatusCode::PRECONDITION_FAILED);
    assert_eq!(offset(&agent, &running, &bytes[1..]).await, 0, "other bytes under its number");
    // An agent without the digest sends everything again.
    assert_eq!(agent.ship_well(&running, 1, bytes).await, "stored");
    running.stop().await;
}

#[tokio::test]
async fn bytes_that_changed_on_the_way_are_sent_again_and_do_not_end_the_package() {
    let ground = Ground::bare().await;
    let running = ground.start().await;
    let agent = FakeAgent::approved(&running, 1).await;
    let bytes = large_package(&agent);
    let half = break_in_the_middle(&agent, &running, &bytes).await;
    let mut changed = bytes[half..].to_vec();
    changed[0] ^= 1;
    let request = request(&agent, &running, Method::PATCH, &bytes).header(UPLOAD_OFFSET, half);
    let (status, name, _) = problem(request.body(changed).send().await.unwrap()).await;
    assert_eq!((status, name.as_str()), (StatusCode::REQUEST_TIMEOUT, "broken-upload"));
    assert_eq!(offset(&agent, &running, &bytes).await, 0, "it begins anew");
    assert_eq!(agent.ship_well(&running, 1, bytes).await, "stored");
    running.stop().await;
}
