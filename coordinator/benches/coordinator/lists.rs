//! The overview and the lists of the dashboard, as a browser asks for them.

use std::time::Instant;

use reqwest::Client;
use reqwest::header::{CONTENT_TYPE, COOKIE, HeaderValue, SET_COOKIE};

use crate::Figure;
use crate::program::PASSWORD;
use crate::service::client;

/// Longest time of an answer, in milliseconds.
const MOST_MS: f64 = 200.0;
/// How often each is asked for; the slowest counts.
const TIMES: usize = 5;

/// What the pages ask for. Host names begin with `h` and a number, so that `h1` is a prefix of
/// nearly a quarter of them.
const PATHS: &[&str] = &[
    "overview",
    "progress",
    "locality",
    "tasks",
    "audit/findings",
    "series?step=minute&buckets=120",
    "series?step=hour&buckets=168",
    "series?step=day&buckets=90",
    "series?step=minute&buckets=120&agent=agt_7",
    "maps/world",
    "maps/round-trips",
    "maps/agents",
    "maps/ipv4?prefix=0.0.0.0/0",
    "maps/ipv4?prefix=16.0.0.0/8",
    "agents",
    "agents?sort=hosts",
    "agents?sort=silent&state=approved",
    "agents?q=agent%209",
    "agents/agt_7",
    "agents/agt_7/takeover",
    "delegations?counts=true",
    "delegations?counts=true&sort=slowest",
    "delegations?counts=true&agent=agt_7",
    "delegations?counts=true&agent=agt_7&sort=slowest",
    "delegations?counts=true&reason=home",
    "delegations?counts=true&q=16.1.0.0/16",
    "delegations?counts=true&q=company%209",
    "delegations?counts=true&q=h1",
    "delegations?counts=true&q=agent%207&sort=slowest",
    "delegations?counts=true&q=nothing",
    "delegations?counts=true&q=cy",
    "hosts?counts=true",
    "hosts?counts=true&sort=errors",
    "hosts?counts=true&sort=slowest",
    "hosts?counts=true&sort=bytes",
    "hosts?counts=true&sort=disallowed",
    "hosts?counts=true&state=delegated&sort=slowest",
    "hosts?counts=true&state=failed&sort=errors",
    "hosts?counts=true&agent=agt_7",
    "hosts?counts=true&agent=agt_7&sort=slowest",
    "hosts?counts=true&seeded=true",
    "hosts?counts=true&seeded=true&sort=errors",
    "hosts?counts=true&q=h1",
    "hosts?counts=true&q=h1&sort=errors",
    "hosts?counts=true&q=h1&sort=slowest",
    "hosts?counts=true&q=h&sort=bytes",
    "hosts?counts=true&q=h4321&sort=slowest",
    "hosts?counts=true&q=h1&agent=agt_7&sort=slowest",
    "hosts?counts=true&q=nothing",
    "hosts?counts=true&q=16.1.0.0/16&sort=slowest",
    "hosts?counts=true&q=16.0.0.0/8&sort=errors",
    "hosts/hst_4321",
    "errors",
    "errors?kind=dns",
    "errors?agent=agt_7",
    "audit/entries?counts=true",
    "audit/entries?counts=true&actor=admin%201",
    "audit/entries?counts=true&action=pin",
    "audit/entries?counts=true&subject=agt_7",
    "audit/entries?counts=true&actor=nobody",
    "incidents",
    "moves",
    "pins",
    "exclusions",
    "regions",
    "join-requests",
    "join-tokens",
    "accounts",
    "api-tokens",
    "hierarchy/16.1.2.3",
    "measured-agents?range=16.1.2.0/24",
    "explain?q=16.1.2.3",
    "explain?q=16.1.2.0/28",
    "explain?q=company%209",
    "explain?q=agent%207",
];

pub(crate) async fn measure(base: &str) -> Vec<Figure> {
    let client = client();
    let cookie = sign_in(&client, base).await;
    let mut figures = Vec::new();
    for path in PATHS {
        let mut slowest: f64 = 0.0;
        for _ in 0..TIMES {
            slowest = slowest.max(milliseconds(&client, base, path, &cookie).await);
        }
        figures.push(Figure {
            name: format!("GET {path}"),
            value: slowest,
            most: MOST_MS,
            unit: "ms",
        });
    }
    figures
}

/// The time until the whole answer is here.
async fn milliseconds(client: &Client, base: &str, path: &str, cookie: &HeaderValue) -> f64 {
    let begun = Instant::now();
    let request = client.get(format!("{base}/api/v1/{path}")).header(COOKIE, cookie.clone());
    let response = request.send().await.unwrap();
    let status = response.status();
    let body = response.bytes().await.unwrap();
    let took = begun.elapsed();
    assert!(status.is_success(), "{path}: {status} {}", String::from_utf8_lossy(&body));
    took.as_secs_f64() * 1_000.0
}

/// The session cookie of the first admin.
async fn sign_in(client: &Client, base: &str) -> HeaderValue {
    let body = format!(r#"{{"name": "admin", "password": "{PASSWORD}"}}"#);
    let request = client
        .post(format!("{base}/api/v1/session"))
        .header(CONTENT_TYPE, "application/json")
        .body(body);
    let response = request.send().await.unwrap();
    assert!(response.status().is_success(), "{:?}", response.text().await);
    let cookie = response.headers()[SET_COOKIE].to_str().unwrap();
    HeaderValue::from_str(cookie.split(';').next().unwrap()).unwrap()
}
