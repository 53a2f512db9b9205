//! The agent's own line fails, which tells nothing of the hosts.

use tokio::net::{TcpListener, TcpSocket, TcpStream};

use crate::{
    testbed::{TestBed, address},
    web::html,
};

/// Hosts that cannot be reached, at the addresses after the first.
const CUT_OFF: u8 = 10;
/// Failures that may count before the agent notices that no host answers.
const COUNTED: u64 = 7;

/// A host whose connections are neither accepted nor refused.
struct Silent {
    url: String,
    _listener: TcpListener,
    /// Fills the only place for connections that wait.
    _waiting: TcpStream,
}

async fn silent(number: u8) -> Silent {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind((address(number), 0).into()).unwrap();
    let listener = socket.listen(0).unwrap();
    let at = listener.local_addr().unwrap();
    let waiting = TcpStream::connect(at).await.unwrap();
    let url = format!("http://a{number}.test:{}/", at.port());
    Silent { url, _listener: listener, _waiting: waiting }
}

/// Failures in a row that count against a host.
async fn failures(bed: &TestBed, url: &str) -> u64 {
    let output = bed.run(&["why", "--json", url]).await;
    let status: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    status["failures"].as_u64().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn hosts_are_not_blamed_while_no_host_can_be_reached() {
    let mut bed = TestBed::new(CUT_OFF + 1).await;
    let mut hosts = Vec::new();
    for number in 2..=CUT_OFF + 1 {
        hosts.push(silent(number).await);
    }
    let port = |host: &Silent| host.url.rsplit(':').next().unwrap().replace('/', "");
    let ports: Vec<String> = hosts.iter().map(port).collect();
    bed.configure("guard", &format!("ports = [{}, {}]", ports.join(", "), bed.web.port));
    bed.configure("limits", "connect_ms = 200");
    // So long that no host is asked again before all were asked once.
    bed.configure("limits", "retry_ms = 3000");
    bed.start_approved().await;
    let urls: Vec<String> = hosts.iter().map(|host| host.url.clone()).collect();
    bed.coordinator.route(&urls);
    // The first failures count, and these hosts are asked once more.
    let attempts = |bed: &TestBed| {
        let entries = crawler_agent::activity_log::entries(&bed.data_dir().join("activity"), None);
        entries.map_or(0, Iterator::count)
    };
    bed.until("hosts were asked again", |bed| attempts(bed) > usize::from(CUT_OFF)).await;
    let mut counted = 0;
    for url in &urls {
        counted += failures(&bed, url).await;
    }
    assert!(counted <= COUNTED, "{counted} failures count");
    assert!(bed.coordinator.state().fetches().next().is_none());

    let reached = bed.web.page("a1.test", "/", html("x"));
    bed.coordinator.route(std::slice::from_ref(&reached));
    bed.until_reported(&[reached]).await;
}
