//! The stream of events: tells what changes, and ends when it should.

use std::time::Duration;

use futures_util::StreamExt as _;
use reqwest::{Method, StatusCode};
use serde_json::Value;

use crate::agent::FakeAgent;
use crate::browser::Browser;
use crate::world::Ground;

/// An open stream, event by event.
struct Stream {
    chunks:
        std::pin::Pin<Box<dyn futures_util::Stream<Item = reqwest::Result<bytes::Bytes>> + Send>>,
    buffer: String,
}

impl Stream {
    async fn open(browser: &Browser) -> Self {
        let response = browser.request(Method::GET, "/api/v1/events").send().await.unwrap();
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        assert!(!response.headers().contains_key("content-encoding"));
        Self { chunks: Box::pin(response.bytes_stream()), buffer: String::new() }
    }

    /// Name and data of the next event; none when the stream ended.
    async fn next(&mut self) -> Option<(String, Value)> {
        loop {
            if let Some((event, rest)) = self.buffer.split_once("\n\n") {
                let field = |name: &str| {
                    event.lines().find_map(|line| line.strip_prefix(name)).map(str::trim)
                };
                let told = field("event:")
                    .map(|name| (name.to_owned(), field("data:").unwrap_or_default().to_owned()));
                self.buffer = rest.to_string();
                if let Some((name, data)) = told {
                    return Some((name, serde_json::from_str(&data).unwrap()));
                }
                continue;
            }
            let chunk = self.chunks.next().await?.ok()?;
            self.buffer.push_str(std::str::from_utf8(&chunk).unwrap());
        }
    }

    async fn until(&mut self, name: &str) -> Value {
        let wanted = async {
            loop {
                let (event, data) = self.next().await.expect("the stream goes on");
                if event == name {
                    return data;
                }
            }
        };
        tokio::time::timeout(Duration::from_secs(20), wanted)
            .await
            .unwrap_or_else(|_| panic!("no event {name}"))
    }

    async fn ends(&mut self) {
        let ending = async { while self.next().await.is_some() {} };
        tokio::time::timeout(Duration::from_secs(20), ending).await.expect("the stream ends");
    }
}

#[tokio::test]
async fn changes_are_told_and_the_stream_ends_at_shutdown() {
    let ground = Ground::new().await;
    let running = ground.start().await;
    running.until_hierarchy_is_loaded().await;
    let browser = Browser::signed_in(&ground, &running).await;
    let mut stream = Stream::open(&browser).await;
    let (name, first) = stream.next().await.unwrap();
    assert_eq!((name.as_str(), first["agents"]["pending"].as_u64()), ("overview", Some(0)));
    let agent = FakeAgent::enrol(&running, 1).await;
    assert_eq!(stream.until("overview").await["agents"]["pending"], 1);
    assert_eq!(stream.until("agents").await["changed"], true);
    running
        .order(agent.id, coordinator::placement::agent_administration::AgentAction::Approve)
        .await;
    assert_eq!(stream.until("delegations").await["changed"], true);
    let stopping = tokio::spawn(running.stop());
    stream.ends().await;
    stopping.await.unwrap();
}

#[tokio::test]
async fn places_are_limited_and_given_back() {
    let ground = Ground::bare().await;
    let running = ground.start().await;
    let browser = Browser::signed_in(&ground, &running).await;
    let mut streams = Vec::new();
    for _ in 0..64 {
        streams.push(Stream::open(&browser).await);
    }
    browser.get("/api/v1/events").await.problem(StatusCode::SERVICE_UNAVAILABLE, "unavailable");
    streams.clear();
    crate::world::until("a place is free", || async {
        browser.request(Method::GET, "/api/v1/events").send().await.unwrap().status()
            == StatusCode::OK
    })
    .await;
    running.stop().await;
}
