//! Hosts whose robots.txt is hostile; their pages are ordinary.

use std::sync::Arc;

use bytes::Bytes;

use super::farm::FORBIDDEN;
use super::script::{Reply, Request, SLOW, Step, answer, missing, page, redirect, send_text};
use super::{Behaviour, codings};

/// Redirects of robots.txt that are followed, and the page afterwards.
const HOPS: usize = 6;

pub(super) fn behaviours() -> Vec<Behaviour> {
    let file = |name, outcome, steps| Behaviour::robots(name, outcome, robots(steps));
    let head = || send_text("HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n");
    let rules = b"user-agent: *\ndisallow: /private\n".repeat(40_000);
    let forbids = answer("200 OK", &["content-type: text/plain"], &rules);
    let bomb = codings::gzip(&vec![b'\n'; 64 << 20]);
    let binary: Vec<u8> = (0..=255).cycle().take(100_000).collect();
    let elsewhere = Arc::new(move |request: &Request| match request.path.as_str() {
        "/" => vec![page("<p>x")],
        "/sitemap.xml" => vec![missing()],
        path => vec![redirect(&format!("{path}x"))],
    });
    let forbidden =
        Arc::new(|request: &Request| vec![redirect(&request.url_on(FORBIDDEN, "/robots.txt"))]);
    vec![
        file("robots.txt of a megabyte", "200", vec![Step::Send(forbids.clone())]),
        Behaviour {
            start: "/private/page",
            ..file("robots.txt of a megabyte that forbids", "200", vec![Step::Send(forbids)])
                .with_requests(0, 0)
        },
        file(
            "endless robots.txt",
            "200",
            vec![head(), Step::Repeat(Bytes::from_static(b"disallow: /private\n"))],
        ),
        file(
            "robots.txt of one endless line",
            "200",
            vec![head(), Step::Repeat(Bytes::from_static(&[b'#'; 4_096]))],
        ),
        file("binary robots.txt", "200", vec![Step::Send(answer("200 OK", &[], &binary))]),
        file(
            "robots.txt as a bomb",
            "200",
            vec![Step::Send(answer("200 OK", &["content-encoding: gzip"], &bomb))],
        ),
        file("slow robots.txt", "no answer in time", vec![Step::Trickle("H".into(), SLOW)])
            .with_requests(0, 0),
        Behaviour::robots("robots.txt at a forbidden address", "302", forbidden)
            .with_requests(0, 0),
        Behaviour::robots("endless redirects of robots.txt", "302", elsewhere)
            .with_requests(1, HOPS),
    ]
}

/// Does this for robots.txt, and answers everything else with a page.
fn robots(steps: Vec<Step>) -> Reply {
    Arc::new(
        move |request| {
            if request.path == "/robots.txt" { steps.clone() } else { vec![page("<p>x")] }
        },
    )
}
