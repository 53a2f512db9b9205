//! A Prometheus server under test.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::Path;
use std::process::Command;

use reqwest::Client;
use serde_json::Value;
use tests::harness::{Process, RunDirectory};

/// A running server; killed when dropped.
pub(crate) struct Prometheus {
    client: Client,
    base: String,
    _process: Process,
}

/// An alert rule that was evaluated without an error.
#[derive(Debug)]
pub(crate) struct Alert {
    pub(crate) name: String,
    pub(crate) expression: String,
}

impl Prometheus {
    /// Starts a server with these rules that reads these targets, each with its job, every second.
    pub(crate) fn start(
        run_directory: &RunDirectory,
        rules: &Path,
        targets: &[(&str, SocketAddr)],
    ) -> Self {
        let config = run_directory.path().join("prometheus.yml");
        std::fs::write(&config, configuration(rules, targets)).unwrap();
        let address = free_address();
        let mut command = Command::new("prometheus");
        command.arg(format!("--config.file={}", config.display()));
        let storage = run_directory.folder("prometheus").unwrap();
        command.arg(format!("--storage.tsdb.path={}", storage.display()));
        command.arg(format!("--web.listen-address={address}"));
        let log = run_directory.path().join("prometheus.log");
        let process = Process::start("Prometheus", command, &log).unwrap();
        // An error means that another test has done it already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder().no_proxy().build().unwrap();
        Self { client, base: format!("http://{address}/api/v1"), _process: process }
    }

    /// The alert rules, once each was evaluated; what is missing otherwise.
    pub(crate) async fn rules(&self) -> Result<Vec<Alert>, String> {
        let answer = self.get("rules", &[]).await?;
        let mut alerts = Vec::new();
        for group in answer["groups"].as_array().into_iter().flatten() {
            for rule in group["rules"].as_array().into_iter().flatten() {
                let text = |field: &str| rule[field].as_str().unwrap_or_default().to_owned();
                if text("health") != "ok" {
                    return Err(format!(
                        "{}: {} {}",
                        text("name"),
                        text("health"),
                        rule["lastError"]
                    ));
                }
                alerts.push(Alert { name: text("name"), expression: text("query") });
            }
        }
        if alerts.is_empty() { Err("no rules".to_owned()) } else { Ok(alerts) }
    }

    /// Names of all metrics that were read, once every target was read.
    pub(crate) async fn metric_names(&self) -> Result<BTreeSet<String>, String> {
        let targets = self.get("targets", &[]).await?;
        for target in targets["activeTargets"].as_array().into_iter().flatten() {
            if target["health"] != "up" {
                return Err(format!("{} is {}", target["scrapeUrl"], target["lastError"]));
            }
        }
        let names = self.get("label/__name__/values", &[]).await?;
        let names = names.as_array().into_iter().flatten();
        Ok(names.filter_map(|name| Some(name.as_str()?.to_owned())).collect())
    }

    /// Evaluates an expression, which must be valid.
    pub(crate) async fn evaluate(&self, expression: &str) {
        if let Err(error) = self.get("query", &[("query", expression)]).await {
            panic!("{expression}: {error}");
        }
    }

    /// The data of an answer, or why there is none.
    async fn get(&self, path: &str, query: &[(&str, &str)]) -> Result<Value, String> {
        let mut url: url::Url = format!("{}/{path}", self.base).parse().unwrap();
        url.query_pairs_mut().extend_pairs(query);
        let answer = self.client.get(url).send().await.map_err(|error| error.to_string())?;
        let mut answer: Value = answer.json().await.map_err(|error| error.to_string())?;
        if answer["status"] != "success" {
            return Err(answer["error"].to_string());
        }
        Ok(answer["data"].take())
    }
}

fn configuration(rules: &Path, targets: &[(&str, SocketAddr)]) -> String {
    let mut text = format!(
        "global: {{scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}}\n\
         rule_files: ['{}']\nscrape_configs:\n",
        rules.canonicalize().unwrap().display()
    );
    for (job, address) in targets {
        writeln!(text, "  - job_name: {job}\n    static_configs: [{{targets: ['{address}']}}]")
            .unwrap();
    }
    text
}

/// A port that stays free: Prometheus takes no port 0, and nobody else uses this loopback address,
/// which is made of the number of this process.
fn free_address() -> SocketAddr {
    let [_, high, middle, low] = std::process::id().to_be_bytes();
    let address = Ipv4Addr::new(127, 0x64 | (high & 1), middle, low | 2);
    let listener = TcpListener::bind((address, 0)).unwrap();
    listener.local_addr().unwrap()
}
