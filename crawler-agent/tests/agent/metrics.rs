//! The metrics for the owner.

#![expect(clippy::float_cmp, reason = "counts are exact")]
#![expect(clippy::panic, reason = "a test stops at what it did not expect")]

use std::net::IpAddr;

use model::{ProbeId, ProbeMethod};
use protocol::{ProbeOrder, page::Outcome};

use crate::{
    testbed::{TestBed, address},
    web::html,
};

/// The address that the agent printed.
fn url(bed: &TestBed) -> Option<String> {
    bed.printed().iter().find_map(|line| Some(line.strip_prefix("metrics at ")?.to_owned()))
}

/// The metrics as text.
async fn scrape(url: &str) -> String {
    drop(rustls::crypto::ring::default_provider().install_default());
    let response = reqwest::Client::builder().no_proxy().build().unwrap().get(url).send();
    let response = response.await.unwrap();
    assert_eq!(response.status(), 200);
    let kind = response.headers()["content-type"].to_str().unwrap().to_owned();
    assert!(kind.starts_with("application/openmetrics-text"), "{kind}");
    response.text().await.unwrap()
}

fn value(text: &str, series: &str) -> f64 {
    let line = text.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("no {series} in\n{text}")).parse().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_agent_does_is_counted() {
    let mut bed = TestBed::new(1).await;
    bed.configure("metrics", "listen = \"127.0.0.1:0\"");
    let page = bed.web.page("a1.test", "/", html("<p>one</p>"));
    bed.web.name_sitemap("a1.test", "/");
    bed.start_approved().await;
    bed.until("the metrics are served", |bed| url(bed).is_some()).await;
    let url = url(&bed).unwrap();
    bed.coordinator.route(std::slice::from_ref(&page));
    bed.until_reported(std::slice::from_ref(&page)).await;
    let outcome = bed.coordinator.state().fetch(&page).unwrap().outcome.clone();
    assert!(matches!(outcome, Outcome::Page(_)), "{outcome:?}");
    let order = ProbeOrder {
        probe: ProbeId::new(1),
        address: IpAddr::V4(address(1)),
        port: bed.web.port,
        host: format!("a1.test:{}", bed.web.port),
        methods: vec![ProbeMethod::Tcp],
        samples: 1,
    };
    bed.coordinator.order(order);
    bed.until("the report has arrived", |bed| {
        bed.coordinator.state().reports.contains_key(&ProbeId::new(1))
    })
    .await;

    let text = scrape(&url).await;
    for (series, expected) in [
        ("fetches_total{outcome=\"page\"}", 1.0),
        ("fetches_total{outcome=\"failed\"}", 0.0),
        ("answer_seconds_count", 1.0),
        ("probes_total{outcome=\"measured\"}", 1.0),
        ("packages_refused_total", 0.0),
        ("coordinator_up", 1.0),
        ("hosts", 1.0),
        ("queued_urls", 0.0),
        ("idle{reason=\"paused\"}", 0.0),
    ] {
        assert_eq!(value(&text, &format!("nearcrawl_agent_{series}")), expected, "{series}");
    }
    assert!(value(&text, "nearcrawl_agent_fetched_bytes_total") >= 10.0);
    assert!(value(&text, "nearcrawl_agent_lease_seconds") > 0.0);
    assert!(value(&text, "nearcrawl_agent_resident_memory_bytes") > 1e6);
    let (status, _) = bed.stop().await;
    assert!(status.success(), "the metrics server ends with the agent");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_of_somebody_else_leads_to_no_metrics() {
    let mut bed = TestBed::new(1).await;
    bed.configure("metrics", "listen = \"127.0.0.1:0\"");
    bed.start_approved().await;
    bed.until("the metrics are served", |bed| url(bed).is_some()).await;
    let url = url(&bed).unwrap();
    scrape(&url).await;
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let refused = client.get(&url).header("host", "rebound.example").send().await.unwrap();
    assert_eq!(refused.status(), 421);
    let said = refused.text().await.unwrap();
    assert!(said.contains("localhost or a loopback address"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_metrics_are_for_this_machine_only() {
    let mut bed = TestBed::new(1).await;
    bed.configure("metrics", "listen = \"0.0.0.0:9421\"");
    let refused = bed.run(&["run"]).await;
    assert_eq!(refused.status.code(), Some(64));
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(said.contains("no loopback address"), "{said}");
}
