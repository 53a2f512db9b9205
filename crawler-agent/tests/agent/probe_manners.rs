//! Probes obey the owner's denied names, robots.txt and the delay of hosts, as fetches do.

use std::{net::IpAddr, time::Duration};

use model::ProbeMethod;
use protocol::{ProbeOrder, ProbeResult};

use crate::{
    probes::{measure, order},
    testbed::{TestBed, address},
    web::{Answer, html, text},
};

const HEAD: &[ProbeMethod] = &[ProbeMethod::Head];

fn here() -> IpAddr {
    address(1).into()
}

fn reason(result: &ProbeResult) -> &str {
    match result {
        ProbeResult::Refused { reason } | ProbeResult::Unreachable { reason } => reason,
        ProbeResult::Measured { .. } => "measured",
    }
}

/// How many requests any host of the web saw.
fn requests(bed: &TestBed) -> u32 {
    bed.web.log().hosts.values().flat_map(|seen| seen.fetches.values()).sum()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_denied_name_is_not_probed_by_any_method() {
    let mut bed = TestBed::new(1).await;
    bed.configure("guard", "deny_hosts = [\"a1.test\"]");
    bed.start_approved().await;
    for (id, methods) in [(1, HEAD), (2, &[ProbeMethod::Tcp, ProbeMethod::Head][..])] {
        let result = measure(&bed, order(&bed, id, here(), methods)).await;
        assert!(reason(&result).contains("denies the host a1.test"), "{result:?}");
    }
    assert_eq!(requests(&bed), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_cannot_inject_a_path() {
    let mut bed = TestBed::new(1).await;
    bed.start_approved().await;
    for (id, more) in [(1, "/admin?delete=1"), (2, "/"), (3, "?q"), (4, "#")] {
        let ordered = order(&bed, id, here(), HEAD);
        let host = format!("{}{more}", ordered.host);
        let result = measure(&bed, ProbeOrder { host, ..ordered }).await;
        assert!(reason(&result).contains("not a host key"), "{result:?}");
    }
    assert_eq!(requests(&bed), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn robots_txt_holds_for_head_probes() {
    let mut bed = TestBed::new(1).await;
    bed.web.page("a1.test", "/robots.txt", text("User-agent: *\nDisallow: /$"));
    bed.start_approved().await;
    for id in [1, 2] {
        let result = measure(&bed, order(&bed, id, here(), HEAD)).await;
        assert!(reason(&result).contains("robots.txt forbids"), "{result:?}");
    }
    assert_eq!(bed.web.count("a1.test", "/"), 0);
    assert_eq!(bed.web.count("a1.test", "/robots.txt"), 1, "the rules are remembered");
}

#[tokio::test(flavor = "multi_thread")]
async fn head_probes_keep_the_delay_and_are_in_the_log_with_their_url() {
    const DELAY: Duration = Duration::from_millis(300);
    let mut bed = TestBed::new(1).await;
    bed.configure("limits", "host_delay_ms = 300");
    let pages: Vec<String> =
        (0..6).map(|n| bed.web.page("a1.test", &format!("/{n}"), html("x"))).collect();
    bed.start_approved().await;
    bed.coordinator.route(&pages);
    bed.until("a page was fetched", |bed| bed.web.count("a1.test", "/0") == 1).await;
    let result = measure(&bed, order(&bed, 1, here(), HEAD)).await;
    assert!(matches!(result, ProbeResult::Measured { .. }), "{result:?}");
    bed.until_reported(&pages).await;
    let seen = bed.web.seen("a1.test");
    assert_eq!((seen.most_in_flight, bed.web.count("a1.test", "/")), (1, 2));
    assert!(seen.least_gap.unwrap() >= DELAY, "{:?}", seen.least_gap);
    let (ended, _) = bed.stop().await;
    assert!(ended.success());
    let log = bed.run(&["log", "--format", "csv", "--contains", "a1.test"]).await;
    let log = String::from_utf8(log.stdout).unwrap();
    let line = format!("probe,\"{}\",127.1.0.1,\"head\"", bed.web.url("a1.test", "/"));
    assert_eq!(log.matches(&line).count(), 2, "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_probe_waits_for_a_host_that_rests_longer_because_it_answers_slowly() {
    let mut bed = TestBed::new(1).await;
    bed.configure("limits", "host_delay_ms = 300");
    let slow = || Answer { takes: Duration::from_millis(300), ..html("x") };
    let pages: Vec<String> =
        (0..6).map(|n| bed.web.page("a1.test", &format!("/{n}"), slow())).collect();
    bed.start_approved().await;
    bed.coordinator.route(&pages);
    bed.until("a page was fetched", |bed| bed.web.count("a1.test", "/0") == 1).await;
    let result = measure(&bed, order(&bed, 1, here(), HEAD)).await;
    assert!(matches!(result, ProbeResult::Measured { samples: 2, .. }), "{result:?}");
    bed.until_reported(&pages).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_answers_slowly_rests_also_where_it_is_another_agents() {
    let mut bed = TestBed::new(1).await;
    bed.configure("limits", "host_delay_ms = 100");
    let takes = Duration::from_millis(200);
    bed.web.page("a1.test", "/", Answer { takes, ..html("x") });
    bed.start_approved().await;
    let result = measure(&bed, order(&bed, 1, here(), HEAD)).await;
    assert!(matches!(result, ProbeResult::Measured { samples: 2, .. }), "{result:?}");
    let gap = bed.web.first_gap("a1.test", "/");
    assert!(gap >= 3 * takes, "the answer, and twice its time: {gap:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_silent_host_gets_one_request_within_the_time_limit() {
    let mut bed = TestBed::new(2).await;
    bed.configure("probe", "timeout_ms = 1000");
    let takes = Duration::from_secs(30);
    bed.web.page("a1.test", "/robots.txt", Answer { takes, ..text("") });
    bed.web.page("a2.test", "/", Answer { takes, ..html("x") });
    bed.start_approved().await;
    for (id, path) in [(1, "/robots.txt"), (2, "/")] {
        let host = format!("a{id}.test");
        let address = address(id).into();
        let ordered = order(&bed, id.into(), address, HEAD);
        let ordered = ProbeOrder { host: format!("{host}:{}", bed.web.port), ..ordered };
        let result = measure(&bed, ordered).await;
        assert!(reason(&result).contains("no answer in time"), "{result:?}");
        assert_eq!(bed.web.count(&host, path), 1, "{host}");
    }
    assert_eq!(bed.web.count("a1.test", "/"), 0);
}
