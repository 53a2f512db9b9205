//! Monitoring: a real Prometheus loads the alert rules, reads a coordinator and an agent, and knows
//! every metric that the rules, the dashboard and the guides name.

#![expect(clippy::unwrap_used, clippy::panic, reason = "this is a test")]

#[path = "monitoring/names.rs"]
mod names;
#[path = "monitoring/prometheus.rs"]
mod prometheus;

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::Value;
use tests::demo::RegistryData;
use tests::harness::{
    Admin, Agent, AgentPlan, Coordinator, CoordinatorPlan, Loader, Process, RunDirectory, until,
};

use crate::names::{expressions, metrics};
use crate::prometheus::Prometheus;

/// Longest wait for anything.
const LIMIT: Duration = Duration::from_mins(1);

/// The root of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap()
}

/// The guides, which list the metrics and the alerts.
fn guides() -> String {
    read("docs/monitoring.md") + &read("docs/partner.md")
}

/// The address that a program printed.
async fn metrics_address(process: &mut Process) -> SocketAddr {
    let address = |line: &str| {
        line.strip_prefix("metrics at http://")?.strip_suffix("/metrics")?.parse().ok()
    };
    process.line("an address of metrics", LIMIT, address).await.unwrap()
}

/// A coordinator with registry data and one approved agent, both with metrics.
struct Site {
    coordinator: Coordinator,
    agent: Agent,
    /// Declared last, so that it is removed after the programs have ended.
    run_directory: RunDirectory,
}

impl Site {
    async fn open() -> Self {
        let run_directory = RunDirectory::open("monitoring").unwrap();
        let config = run_directory.path().join("coordinator.toml");
        std::fs::write(&config, "metrics_listen = '127.0.0.1:0'\n").unwrap();
        let data_dir = run_directory.path().join("coordinator");
        let mut plan = CoordinatorPlan::new(data_dir.clone());
        plan.config = Some(config);
        let password = plan.admin_password.clone();
        let coordinator = Coordinator::start(plan).await.unwrap();
        let data = RegistryData::made_up(&run_directory).unwrap();
        let log = run_directory.path().join("load.log");
        let loaded = Loader::load(&data_dir, &data.folder, &log).await.unwrap();
        assert!(loaded.status.success(), "{}", loaded.said);
        let admin = Admin::sign_in(coordinator.address(), &password).await.unwrap();
        let token = admin.join_token("monitored").await.unwrap();
        let plan = agent_plan(&run_directory, coordinator.address());
        let mut agent = Agent::join(plan, &token).await.unwrap();
        admin.approve(agent.id()).await.unwrap();
        agent.approved().await.unwrap();
        // A public search, whose route an alert rule names.
        admin.get("search?q=anything").await.unwrap();
        Self { coordinator, agent, run_directory }
    }
}

fn agent_plan(run_directory: &RunDirectory, coordinator: SocketAddr) -> AgentPlan {
    AgentPlan {
        name: "monitored".to_owned(),
        home: run_directory.folder("agent").unwrap(),
        coordinator: format!("http://{coordinator}"),
        capacity: 1_000,
        bind: None,
        resolver: vec![SocketAddr::from(([127, 0, 0, 1], 9))],
        methods: vec!["tcp"],
        allow: Vec::new(),
        ports: vec![80],
        host_delay_ms: 1_000,
        ship_age_ms: 1_000,
        metrics: Some(SocketAddr::from(([127, 0, 0, 1], 0))),
        peer: None,
        place: None,
        namespace: None,
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Prometheus"]
async fn prometheus_knows_every_metric_of_rules_dashboard_and_guides() {
    let mut site = Site::open().await;
    let targets = [
        ("nearcrawl-coordinator", metrics_address(site.coordinator.process()).await),
        ("nearcrawl-agent", metrics_address(site.agent.process()).await),
    ];
    let rules = root().join("deploy/prometheus/nearcrawl.rules.yml");
    let prometheus = Prometheus::start(&site.run_directory, &rules, &targets);

    let dashboard: Value = serde_json::from_str(&read("deploy/grafana/nearcrawl.json")).unwrap();
    let shown = expressions(&dashboard);
    assert!(shown.len() > 40, "the dashboard has {} expressions", shown.len());
    let alerts = until("evaluated alert rules", LIMIT, || prometheus.rules()).await.unwrap();
    let evaluated = shown.iter().chain(alerts.iter().map(|alert| &alert.expression));
    let used: BTreeSet<String> = evaluated.clone().flat_map(|text| metrics(text)).collect();
    // Some metrics exist only once the registry data is in use and audited.
    let unknown = || async {
        let known = prometheus.metric_names().await?;
        let unknown: Vec<&String> = used.difference(&known).collect();
        if unknown.is_empty() { Ok(known) } else { Err(format!("unknown metrics: {unknown:?}")) }
    };
    let known = until("metrics of rules and dashboard", LIMIT, unknown).await.unwrap();

    for expression in evaluated {
        prometheus.evaluate(expression).await;
    }
    let guides = guides();
    let ours = known.iter().filter(|name| name.starts_with("nearcrawl_"));
    let families: BTreeSet<&str> = ours.map(|name| names::family(name)).collect();
    let unexplained: Vec<&&str> =
        families.iter().filter(|name| !guides.contains(&format!("`{name}`"))).collect();
    assert!(unexplained.is_empty(), "no guide explains {unexplained:?}");
    let named: BTreeSet<String> = metrics(&guides).collect();
    let missing: Vec<&String> =
        named.iter().filter(|name| !families.contains(name.as_str())).collect();
    assert!(missing.is_empty(), "the guides explain metrics that do not exist: {missing:?}");
    for alert in &alerts {
        assert!(guides.contains(&format!("`{}`", alert.name)), "no runbook for {}", alert.name);
    }
}

#[test]
#[ignore = "needs Prometheus"]
fn rules_and_example_pass_promtool() {
    let folder = root().join("deploy/prometheus");
    for arguments in
        [["test", "rules", "nearcrawl.rules.test.yml"], ["check", "config", "prometheus.yml"]]
    {
        let output = Command::new("promtool").args(arguments).current_dir(&folder).output();
        let output = output.unwrap_or_else(|error| panic!("promtool does not start: {error}"));
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    }
}
