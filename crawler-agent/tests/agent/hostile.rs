//! Hostile servers, and orders that must never be obeyed.

use std::{
    io::Write as _,
    net::Ipv4Addr,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use flate2::{Compression, write::GzEncoder};
use model::CrawlPolicy;
use protocol::page::{Failure, Outcome};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};

use crate::{
    testbed::{TestBed, address},
    web::{Answer, html, redirect, status, text},
};

type Talk = fn(TcpStream) -> futures_util::future::BoxFuture<'static, ()>;

/// A server at an address of its own, which serves robots.txt correctly and any other request with
/// `talk`.
async fn raw(n: u8, talk: Talk) -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::new(127, 1, 1, n), 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut request = [0; 4_096];
                let length = stream.read(&mut request).await.unwrap_or(0);
                if request[..length].starts_with(b"GET /robots.txt") {
                    let _ = stream
                        .write_all(
                            b"HTTP/1.1 404 No\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
                        )
                        .await;
                } else {
                    talk(stream).await;
                }
            });
        }
    });
    port
}

const PAGE: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n";

fn slow_head(mut stream: TcpStream) -> futures_util::future::BoxFuture<'static, ()> {
    Box::pin(async move {
        // So far it could still become an answer.
        let _ = stream.write_all(b"HTTP/1.1 200 ").await;
        let mut drip = tokio::time::interval(Duration::from_millis(100));
        while stream.write_all(b"H").await.is_ok() {
            drip.tick().await;
        }
    })
}

fn slow_body(mut stream: TcpStream) -> futures_util::future::BoxFuture<'static, ()> {
    Box::pin(async move {
        let _ = stream.write_all(&[PAGE, b"content-length: 100000\r\n\r\n"].concat()).await;
        slow_head(stream).await;
    })
}

fn endless(mut stream: TcpStream) -> futures_util::future::BoxFuture<'static, ()> {
    Box::pin(async move {
        let _ = stream.write_all(&[PAGE, b"transfer-encoding: chunked\r\n\r\n"].concat()).await;
        let chunk = [b"10000\r\n", vec![b'x'; 0x10000].as_slice(), b"\r\n"].concat();
        while stream.write_all(&chunk).await.is_ok() {}
    })
}

fn cut_short(mut stream: TcpStream) -> futures_util::future::BoxFuture<'static, ()> {
    Box::pin(async move {
        let _ = stream.write_all(&[PAGE, b"content-length: 100\r\n\r\n<p>half"].concat()).await;
    })
}

fn binary_bytes(mut stream: TcpStream) -> futures_util::future::BoxFuture<'static, ()> {
    Box::pin(async move {
        let _ = stream.write_all(&[0x80; 1_000]).await;
    })
}

fn huge_head(mut stream: TcpStream) -> futures_util::future::BoxFuture<'static, ()> {
    Box::pin(async move {
        let _ = stream.write_all(PAGE).await;
        while stream
            .write_all(b"x-filler: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\r\n")
            .await
            .is_ok()
        {}
    })
}

fn bomb() -> Answer {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    for _ in 0..64 {
        encoder.write_all(&vec![b' '; 1 << 20]).unwrap();
    }
    let headers = vec![("content-type", "text/html".into()), ("content-encoding", "gzip".into())];
    Answer { headers, body: encoder.finish().unwrap(), ..html("") }
}

#[tokio::test(flavor = "multi_thread")]
#[expect(clippy::too_many_lines, reason = "one list of hostile servers")]
async fn hostile_hosts_do_not_slow_honest_ones() {
    let mut bed = TestBed::new(3).await;
    let raws: [(&str, Talk); 6] = [
        ("no answer in time", slow_head),
        ("took too long", slow_body),
        ("more than", endless),
        ("no complete HTTP answer", cut_short),
        ("no complete HTTP answer", binary_bytes),
        ("no complete HTTP answer", huge_head),
    ];
    let mut expected = vec![(bed.web.page("a1.test", "/bomb", bomb()), "inflates to more")];
    let mut ports = vec![80, bed.web.port];
    for (n, (reason, talk)) in (1..).zip(raws) {
        let port = raw(n, talk).await;
        ports.push(port);
        expected.push((format!("http://127.1.1.{n}:{port}/"), reason));
    }
    bed.configure("guard", &format!("ports = {ports:?}"));
    for line in ["first_byte_ms = 800", "fetch_ms = 1500", "wire_mib = 1", "retry_ms = 50"] {
        bed.configure("limits", line);
    }
    let all = (0..60).map(|n| format!("<a href=/{n}>page</a>")).collect::<Vec<_>>().concat();
    let honest: Vec<String> =
        (0..60).map(|n| bed.web.page("a2.test", &format!("/{n}"), html(&all))).collect();
    let irregular = [
        bed.web.page(
            "a3.test",
            "/charset",
            Answer {
                headers: vec![("content-type", "text/html; charset=klingon".into())],
                body: b"<meta charset=nonsense><p>caf\xe9 au lait, s'il vous pla\xeet</p>".to_vec(),
                ..html("")
            },
        ),
        bed.web.page("a3.test", "/deep", html(&"<div>".repeat(200_000))),
        bed.web.page(
            "a3.test",
            "/links",
            html(
                &(0..20_000)
                    .map(|n| format!("<a href=http://o{n}.test/>x</a>"))
                    .collect::<Vec<_>>()
                    .concat(),
            ),
        ),
        bed.web.page(
            "a3.test",
            "/binary",
            Answer {
                headers: vec![("content-type", "image/png".into())],
                body: vec![0; 50_000],
                ..html("")
            },
        ),
        bed.web.page(
            "a3.test",
            "/noindex",
            Answer {
                headers: vec![
                    ("content-type", "text/html".into()),
                    ("x-robots-tag", "noindex".into()),
                ],
                ..html("hidden")
            },
        ),
    ];
    bed.start_approved().await;
    let mut routes: Vec<String> = expected.iter().map(|(url, _)| url.clone()).collect();
    routes.extend(honest.first().cloned());
    routes.extend(irregular.clone());
    let started = std::time::Instant::now();
    bed.coordinator.route(&routes);
    bed.until_reported(&honest).await;
    let took = started.elapsed();
    assert!(took < Duration::from_secs(12), "61 requests, 40 ms apart, took {took:?}");
    let urls: Vec<String> = routes.clone();
    bed.until_reported(&urls).await;
    let state = bed.coordinator.state();
    for (url, reason) in &expected {
        let Outcome::Failed(Failure { reason: reported, .. }) = &state.fetch(url).unwrap().outcome
        else {
            panic!("{:?}", state.fetch(url))
        };
        assert!(reported.contains(reason), "{url}: {reported}");
    }
    let outcome = |n: usize| &state.fetch(&irregular[n]).unwrap().outcome;
    assert!(
        matches!(outcome(0), Outcome::Page(page) if page.text.contains("café au lait")),
        "{:?}",
        outcome(0)
    );
    assert!(matches!(outcome(1), Outcome::Page(_)), "{:?}", outcome(1));
    assert!(
        matches!(outcome(2), Outcome::Page(page) if page.links.len() == 5_000),
        "{:?}",
        outcome(2)
    );
    assert!(matches!(outcome(3), Outcome::Other { status: 200, .. }), "{:?}", outcome(3));
    assert!(matches!(outcome(4), Outcome::Disallowed { .. }), "{:?}", outcome(4));
    assert_eq!(state.discovered().len(), 5_000);
}

#[tokio::test(flavor = "multi_thread")]
async fn no_route_redirect_or_name_leads_to_a_forbidden_address() {
    let mut bed = TestBed::new(2).await;
    // A listener at a forbidden address.
    let connections = Arc::new(AtomicU32::new(0));
    let trap = TcpListener::bind((Ipv4Addr::new(127, 66, 0, 1), bed.web.port)).await.unwrap();
    let counting = Arc::clone(&connections);
    tokio::spawn(async move {
        while trap.accept().await.is_ok() {
            counting.fetch_add(1, Ordering::SeqCst);
        }
    });
    let port = bed.web.port;
    let trapped = |host: &str| format!("http://{host}:{port}/");
    bed.web.page("a1.test", "/robots.txt", text(""));
    let redirecting = bed.web.page("a1.test", "/r", redirect(&trapped("127.66.0.1")));
    bed.web.page(
        "a2.test",
        "/robots.txt",
        redirect(&format!("http://127.66.0.1:{port}/robots.txt")),
    );
    let robbed = bed.web.page("a2.test", "/", html("x"));
    bed.start_approved().await;
    let mut refused: Vec<String> = [
        "127.66.0.1",
        "trap.test",
        "inside.test",
        "mixed.test",
        "10.0.0.1",
        "169.254.169.254",
        "[::1]",
        "[::ffff:7f42:1]",
        "0x7f.66.0.1",
    ]
    .iter()
    .map(|host| trapped(host))
    .collect();
    refused.push("http://a1.test:22/".into());
    refused.push("http://nowhere.test/".into());
    let mut routes = refused.clone();
    routes.extend([redirecting.clone(), robbed.clone()]);
    bed.coordinator.route(&routes);
    // In the normalised form of results.
    refused[8] = format!("http://127.66.0.1:{port}/");
    refused[7] = format!("http://[::ffff:7f42:1]:{port}/");
    bed.until_reported(&refused).await;
    bed.until_reported(&[redirecting, robbed]).await;
    let state = bed.coordinator.state();
    for url in &refused {
        let fetch = state.fetch(url).unwrap();
        assert!(matches!(fetch.outcome, Outcome::Failed(_)), "{fetch:?}");
        assert_eq!((fetch.address, fetch.timing), (None, None), "nothing was sent");
    }
    assert_eq!(connections.load(Ordering::SeqCst), 0);
    assert_eq!(bed.web.count("a2.test", "/"), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_whose_name_leads_inside_rests_before_it_is_given_up() {
    let mut bed = TestBed::new(1).await;
    bed.configure("limits", "retry_ms = 10");
    bed.start_approved().await;
    let url = |n| bed.web.url("inside.test", &format!("/{n}"));
    let urls: Vec<String> = (0..20).map(url).collect();
    bed.coordinator.route(&urls);
    bed.until_reported(&urls).await;
    let why = bed.run(&["why", &bed.web.url("inside.test", ""), "--json"]).await;
    let status: serde_json::Value = serde_json::from_slice(&why.stdout).unwrap();
    assert_eq!(status["failures"], 10, "with the one that gave it up: {status}");
    assert_eq!(status["next"], urls[0], "its URLs are visited again: {status}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dead_host_is_given_up_in_the_end() {
    let mut bed = TestBed::new(2).await;
    let unused = TcpListener::bind((address(2), 0)).await.unwrap();
    let port = unused.local_addr().unwrap().port();
    drop(unused);
    bed.configure("guard", &format!("ports = [{port}, {}]", bed.web.port));
    bed.configure("limits", "retry_ms = 10");
    bed.start_approved().await;
    let dead: Vec<String> = (0..50).map(|n| format!("http://a2.test:{port}/{n}")).collect();
    bed.coordinator.route(&dead);
    bed.until_reported(&dead).await;
    bed.web.page("a1.test", "/robots.txt", status(500));
    let sick = vec![bed.web.page("a1.test", "/", html("x"))];
    bed.coordinator.route(&sick);
    bed.until_reported(&sick).await;
    let state = bed.coordinator.state();
    let reason = |url: &str| match &state.fetch(url).unwrap().outcome {
        Outcome::Failed(failure) => failure.reason.clone(),
        other => panic!("{other:?}"),
    };
    assert!(reason(&dead[7]).contains("no connection"), "{}", reason(&dead[7]));
    assert!(reason(&sick[0]).contains("status 500"), "{}", reason(&sick[0]));
    assert_eq!(bed.web.count("a1.test", "/robots.txt"), 10);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crawled_host_that_has_died_is_reported() {
    let mut bed = TestBed::new(1).await;
    bed.configure("limits", "retry_ms = 10\nfirst_byte_ms = 100");
    bed.coordinator.state().policy =
        CrawlPolicy { host_delay_ms: 0, revisit_s: 1, ..CrawlPolicy::default() };
    bed.start_approved().await;
    bed.web.name_sitemap("a1.test", "/sitemap");
    let urls: Vec<String> =
        (0..10).map(|n| bed.web.page("a1.test", &format!("/{n}"), html("x"))).collect();
    bed.coordinator.route(&urls);
    bed.until_reported(&urls).await;
    let dead = Answer { takes: Duration::from_secs(1), ..html("x") };
    for n in 0..10 {
        bed.web.page("a1.test", &format!("/{n}"), dead.clone());
    }
    bed.web.page("a1.test", "/robots.txt", status(500));
    // Nothing is in the queue, and from now on only robots.txt is asked for.
    let is_told = |bed: &TestBed| {
        let state = bed.coordinator.state();
        state.fetches().any(|fetch| match &fetch.outcome {
            Outcome::Failed(failure) => failure.reason.contains("status 500"),
            _ => false,
        })
    };
    bed.until("the failed visit of a page is reported", is_told).await;
    let why = bed.run(&["why", &bed.web.url("a1.test", ""), "--json"]).await;
    let status: serde_json::Value = serde_json::from_slice(&why.stdout).unwrap();
    assert_eq!(status["waits_for"], "retry", "it rests: {status}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_answers_is_not_given_up_for_pages_that_hang() {
    let mut bed = TestBed::new(1).await;
    bed.configure("limits", "retry_ms = 10\nfirst_byte_ms = 100");
    bed.start_approved().await;
    bed.web.name_sitemap("a1.test", "/sitemap");
    let hang = Answer { takes: Duration::from_secs(1), ..html("x") };
    let mut urls: Vec<String> =
        (0..4).map(|n| bed.web.page("a1.test", &format!("/{n}"), hang.clone())).collect();
    urls.push(bed.web.page("a1.test", "/good", html("good")));
    bed.coordinator.route(&urls);
    bed.until_reported(&urls).await;
    let state = bed.coordinator.state();
    let good = state.fetch(&urls[4]).unwrap();
    assert!(matches!(good.outcome, Outcome::Page(_)), "{:?}", good.outcome);
    assert_eq!(bed.web.count("a1.test", "/robots.txt"), 2, "once after ten failures");
}
