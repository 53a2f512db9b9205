//! The metrics: what Prometheus reads agrees with what people see, and a log line names its request
//! or task.

#![expect(clippy::float_cmp, reason = "the same number is read twice")]

use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use coordinator::http::metrics;
use coordinator::tasks::coordinator::Coordinator;
use coordinator::tasks::table::TABLE;
use reqwest::StatusCode;
use serde_json::Value;
use store::testing;
use tokio::net::TcpListener;
use tracing_subscriber::EnvFilter;

use crate::agent::{FakeAgent, client, page};
use crate::browser::Browser;
use crate::world::{Ground, Running, until};

/// The metrics of a coordinator, at an address of their own.
struct Scraper {
    url: String,
}

impl Scraper {
    async fn new(coordinator: &Arc<Coordinator>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/metrics", listener.local_addr().unwrap());
        tokio::spawn(metrics::serve(Arc::clone(coordinator), listener));
        Self { url }
    }

    async fn text(&self) -> String {
        let response = client("127.0.0.1").get(&self.url).send().await.unwrap();
        assert_eq!(response.status(), StatusCode::OK);
        let kind = response.headers()["content-type"].to_str().unwrap();
        assert!(kind.starts_with("application/openmetrics-text"), "{kind}");
        response.text().await.unwrap()
    }

    async fn value(&self, series: &str) -> Option<f64> {
        value(&self.text().await, series)
    }
}

/// The value of a time series, which is named as in the text.
fn value(text: &str, series: &str) -> Option<f64> {
    let line = text.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '))?;
    Some(line.parse().unwrap())
}

fn task<'a>(page: &'a Value, name: &str) -> Option<&'a Value> {
    page["items"].as_array().unwrap().iter().find(|item| item["name"] == name)
}

/// Runs and failures only grow, so that the metrics lie between two looks at the status page.
#[tokio::test]
async fn the_metrics_of_tasks_agree_with_the_status_page() {
    let ground = Ground::new().await;
    let running = ground.start().await;
    running.until_hierarchy_is_loaded().await;
    let browser = Browser::signed_in(&ground, &running).await;
    let scraper = Scraper::new(&running.coordinator).await;
    until("every task has run", || async {
        browser.read("/api/v1/tasks").await["items"].as_array().unwrap().len() == TABLE.len()
    })
    .await;

    let before = browser.read("/api/v1/tasks").await;
    let text = scraper.text().await;
    assert_eq!(value(&text, "nearcrawl_silent_hosts"), Some(0.0));
    assert_eq!(value(&text, "nearcrawl_silent_hosts_limit"), Some(2_000_000.0));
    let after = browser.read("/api/v1/tasks").await;
    for entry in TABLE {
        let of = |metric: &str| {
            let series = format!("nearcrawl_task_{metric}{{task=\"{}\"}}", entry.name);
            value(&text, &series).unwrap_or_else(|| panic!("no {series} in\n{text}"))
        };
        let earlier = task(&before, entry.name).unwrap();
        let later = task(&after, entry.name).unwrap();
        let runs = earlier["runs"].as_f64().unwrap()..=later["runs"].as_f64().unwrap();
        assert!(runs.contains(&of("runs_total")), "{}: {runs:?}", entry.name);
        assert_eq!(of("period_seconds"), entry.period.as_secs_f64());
        assert_eq!(of("consecutive_failures"), 0.0, "{}: {later}", entry.name);
        assert_eq!(of("failures_total"), 0.0, "{}: {later}", entry.name);
        assert!(of("run_seconds_total") > 0.0);
        if earlier == later {
            let at: jiff::Timestamp = later["last_run_at"].as_str().unwrap().parse().unwrap();
            let seconds = at.as_millisecond() as f64 / 1_000.0;
            assert_eq!(of("last_run_timestamp_seconds"), seconds, "{}", entry.name);
        }
    }
    let named = text.matches("nearcrawl_task_runs_total{").count();
    assert_eq!(named, TABLE.len(), "the metrics name no other task");
    assert_eq!(value(&text, "nearcrawl_leader"), Some(1.0));
    assert_eq!(value(&text, "nearcrawl_database_up"), Some(1.0));
    running.stop().await;
}

#[tokio::test]
async fn a_task_that_fails_is_counted() {
    let ground = Ground::new().await;
    let running = ground.start().await;
    running.until_hierarchy_is_loaded().await;
    let scraper = Scraper::new(&running.coordinator).await;
    // The leader's tasks may stop before they fail; this one runs on every coordinator.
    running.coordinator.store.close().await;
    let failures = "nearcrawl_task_failures_total{task=\"refresh_policy\"}";
    until("a failure is counted", || async {
        scraper.value(failures).await.is_some_and(|count| count >= 1.0)
    })
    .await;
    let text = scraper.text().await;
    let failing = value(&text, "nearcrawl_task_consecutive_failures{task=\"refresh_policy\"}");
    assert!(failing.unwrap() >= 1.0);
    until("the state without the database is read", || async {
        scraper.value("nearcrawl_database_up").await == Some(0.0)
    })
    .await;
    assert_eq!(scraper.value("nearcrawl_agents{state=\"awake\"}").await, None);
    running.stop().await;
}

/// Prometheus gives a scrape up after this time by default.
const SCRAPE_TIMEOUT: Duration = Duration::from_secs(10);

#[tokio::test]
async fn a_database_that_hangs_is_down_before_a_scrape_is_given_up() {
    let ground = Ground::new().await;
    let running = ground.start().await;
    running.until_hierarchy_is_loaded().await;
    let scraper = Scraper::new(&running.coordinator).await;
    let locks = "LOCK TABLE agents, package_ledger";
    let locked = testing::begin(ground.store(), locks).await.unwrap();
    let answer = tokio::time::timeout(SCRAPE_TIMEOUT, scraper.text()).await;
    let text = answer.expect("a scrape in time");
    assert_eq!(value(&text, "nearcrawl_database_up"), Some(0.0));
    assert_eq!(value(&text, "nearcrawl_index_missing_packages{state=\"waiting\"}"), None);
    locked.rollback().await.unwrap();
    until("the database answers again", || async {
        scraper.value("nearcrawl_database_up").await == Some(1.0)
    })
    .await;
    running.stop().await;
}

#[tokio::test]
async fn requests_packages_and_agents_are_counted() {
    let ground = Ground::new().await;
    let running = ground.start().await;
    running.until_hierarchy_is_loaded().await;
    let agent = FakeAgent::approved(&running, 1).await;
    let browser = Browser::new(&running);
    let scraper = Scraper::new(&running.coordinator).await;
    let good = agent.package(1, &[page("http://127.0.0.1/", "Home", "a page")]);
    assert_eq!(agent.ship_well(&running, 1, good.clone()).await, "stored");
    assert_eq!(agent.ship_well(&running, 1, good.clone()).await, "duplicate");
    agent.ship(&running, 2, b"no package".to_vec()).await;
    browser.get("/api/v1/agents/agt_1").await;
    browser.get("/overview").await;
    until("the package is ingested", || async {
        scraper.value("nearcrawl_packages_ingested_total").await == Some(1.0)
    })
    .await;
    // The state is read less often than the counters.
    until("the state shows it", || async {
        scraper.value("nearcrawl_ledger_packages{state=\"waiting\"}").await == Some(0.0)
    })
    .await;

    let text = scraper.text().await;
    let bytes = good.len() as f64;
    for (series, expected) in [
        ("packages_received_total", 1.0),
        ("packages_received_bytes_total", bytes),
        ("packages_duplicate_total", 1.0),
        ("packages_refused_total{reason=\"magic\"}", 1.0),
        ("packages_refused_total{reason=\"bomb\"}", 0.0),
        ("ledger_packages{state=\"waiting\"}", 0.0),
        ("ingest_lag_seconds", 0.0),
        ("agents{state=\"awake\"}", 1.0),
        ("http_requests_total{method=\"GET\",route=\"/api/v1/agents/{id}\",status=\"4xx\"}", 1.0),
        ("http_requests_total{method=\"GET\",route=\"none\",status=\"2xx\"}", 1.0),
    ] {
        let series = format!("nearcrawl_{series}");
        assert_eq!(value(&text, &series), Some(expected), "{series} in\n{text}");
    }
    let public = browser.get("/metrics").await.text;
    assert!(!public.contains("nearcrawl_leader"), "the public address has no metrics");
    running.stop().await;
}

/// The log lines of this thread, on which a test's coordinator runs.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Lines {
    fn start(&self) -> tracing::subscriber::DefaultGuard {
        let lines = self.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_env_filter(EnvFilter::new("coordinator=debug"))
            .with_ansi(false)
            .with_writer(move || lines.clone())
            .finish();
        tracing::subscriber::set_default(subscriber)
    }

    fn any(&self, parts: &[&str]) -> bool {
        let bytes = self.0.lock().unwrap().clone();
        let text = String::from_utf8(bytes).unwrap();
        text.lines().any(|line| parts.iter().all(|part| line.contains(part)))
    }
}

impl io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn a_log_line_names_its_request_or_its_task() {
    let lines = Lines::default();
    let _logging = lines.start();
    let ground = Ground::new().await;
    let running: Running = ground.start().await;
    running.until_hierarchy_is_loaded().await;
    let agent = FakeAgent::approved(&running, 1).await;
    let response = agent.ship(&running, 1, b"no package".to_vec()).await;
    let id = response.headers()["x-request-id"].to_str().unwrap().to_owned();
    let path = "path=\"/api/v1/agent/packages/7/1\"";
    assert!(lines.any(&["request{", &id, path, "refused a package"]), "the request is named");
    let task = "task{name=\"reload_hierarchy\" run=1}";
    until("the task has said what it did", || std::future::ready(lines.any(&[task]))).await;
    running.stop().await;
}
