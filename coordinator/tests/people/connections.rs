//! Connections of silent clients: closed in time, bounded, and never at the cost of agents.

use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};

use crate::agent::FakeAgent;
use crate::browser::Browser;
use crate::world::{Ground, Running, until};

/// Longest wait for the server to close a connection.
const PATIENCE: Duration = Duration::from_secs(30);

async fn connect(running: &Running, source: &str) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind(format!("{source}:0").parse().unwrap()).unwrap();
    let address = running.base.trim_start_matches("http://").parse().unwrap();
    socket.connect(address).await.unwrap()
}

/// Waits until the server closes the connection; returns what it sent before.
async fn closed(mut stream: TcpStream) -> String {
    let mut sent = String::new();
    let reading = stream.read_to_string(&mut sent);
    let read = tokio::time::timeout(PATIENCE, reading).await.expect("the server closes it");
    // A reset is an end, too.
    let _ = read;
    sent
}

#[tokio::test]
async fn silent_and_idle_connections_are_closed() {
    let ground = Ground::bare().await;
    let running = ground
        .start_changed(|config| {
            config.limits.header_s = 1;
            config.limits.idle_connection_s = 1;
        })
        .await;
    let silent = connect(&running, "127.0.0.1").await;
    let mut slow = connect(&running, "127.0.0.1").await;
    slow.write_all(b"GET /livez HTTP/1.1\r\nhost: x\r\n").await.unwrap();
    let mut idle = connect(&running, "127.0.0.1").await;
    idle.write_all(b"GET /livez HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
    assert_eq!(closed(silent).await, "");
    assert_eq!(closed(slow).await, "");
    assert!(closed(idle).await.starts_with("HTTP/1.1 200"));
    running.stop().await;
}

#[tokio::test]
async fn a_flood_of_silent_connections_stops_neither_agents_nor_people() {
    let ground = Ground::new().await;
    let running = ground
        .start_changed(|config| {
            config.limits.connections = 24;
            config.limits.connections_for_agents = 12;
            config.limits.connections_per_address = 4;
            // The bounds close connections here, not time.
            config.limits.header_s = 600;
        })
        .await;
    running.until_hierarchy_is_loaded().await;
    let mut agent = FakeAgent::approved(&running, 1).await;
    let mut silent = Vec::new();
    for source in 10..30 {
        for _ in 0..8 {
            silent.push(connect(&running, &format!("127.0.0.{source}")).await);
        }
        agent.heartbeat(&running, 0).await;
    }
    let browser = Browser::new(&running);
    assert!(browser.get("/livez").await.status.is_success());
    // All but the bounded number are closed.
    let mut open = silent;
    until("only a bounded number of silent connections is open", || {
        open.retain_mut(|stream| stream.try_read(&mut [0]).is_err_and(|e| would_block(&e)));
        std::future::ready(open.len() <= 12)
    })
    .await;
    running.stop().await;
}

fn would_block(error: &std::io::Error) -> bool {
    error.kind() == std::io::ErrorKind::WouldBlock
}
