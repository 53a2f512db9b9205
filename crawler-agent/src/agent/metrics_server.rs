//! Metrics server: answers `GET /metrics` at a loopback address, where the owner wants it.
//!
//! It accepts connections from the agent's own machine only, and answers only requests that name
//! this machine as their host: a page in a browser of the owner could otherwise read the metrics by
//! a name of its own that leads to a loopback address (DNS rebinding).

use std::{
    net::{IpAddr, SocketAddr},
    sync::{Arc, Weak, atomic::AtomicU64},
};

use axum::{
    Router,
    extract::State,
    http::{
        HeaderMap, StatusCode,
        header::{CONTENT_TYPE, HOST},
    },
    response::{IntoResponse, Response},
    routing::get,
};
use model::UnixMillis;
use nix::sys::statvfs::statvfs;
use prometheus_client::{
    encoding::text::encode,
    metrics::{family::Family, gauge::Gauge, info::Info},
    registry::Registry,
};
use strum::VariantNames as _;
use tokio::net::TcpListener;

use super::{AgentError, error::machine, idle_reason::IdleReason, monitors::StatusWriter};
use crate::{metrics::Label, peers::BoundedListener, status::StatusFile};

/// Beginning of the names of all metrics.
const PREFIX: &str = "nearcrawl_agent";
/// The text format of OpenMetrics 1.0.
const OPENMETRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Answer to a request that names another host.
const MISDIRECTED: &str =
    "The metrics are served only at localhost or a loopback address, such as 127.0.0.1.\n";

type Number = Gauge<f64, AtomicU64>;

/// A bound socket.
pub(super) struct MetricsServer {
    listener: TcpListener,
    /// Address and port that it listens on.
    pub(super) address: SocketAddr,
}

/// What the metrics are made of.
pub(super) struct MetricsSource {
    pub(super) status: StatusWriter,
    pub(super) started: UnixMillis,
}

impl MetricsServer {
    /// Binds the address of the configuration; none where the owner wants no metrics.
    pub(super) async fn bind(address: Option<SocketAddr>) -> Result<Option<Self>, AgentError> {
        let Some(address) = address else { return Ok(None) };
        let failed = machine("listening on the address in [metrics]");
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let failed = machine("reading the address in [metrics]");
        let address = listener.local_addr().map_err(failed)?;
        Ok(Some(Self { listener, address }))
    }

    /// Task that serves.
    pub(super) async fn run(self, source: MetricsSource) -> Result<(), AgentError> {
        let source = Arc::new(source);
        // A connection may outlive this task, and must not keep the frontier open.
        let app = Router::new().route("/metrics", get(metrics)).with_state(Arc::downgrade(&source));
        let served = axum::serve(BoundedListener::new(self.listener), app).await;
        served.map_err(machine("serving metrics"))
    }
}

async fn metrics(
    State(source): State<Weak<MetricsSource>>,
    headers: HeaderMap,
) -> Result<impl IntoResponse, Response> {
    let host = headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    if !is_this_machine(host) {
        return Err((StatusCode::MISDIRECTED_REQUEST, MISDIRECTED).into_response());
    }
    let source = source.upgrade().ok_or(StatusCode::SERVICE_UNAVAILABLE);
    let source = source.map_err(IntoResponse::into_response)?;
    let text = source.text().map_err(IntoResponse::into_response)?;
    Ok(([(CONTENT_TYPE, OPENMETRICS)], text))
}

/// Whether the `Host` of a request is a loopback address or `localhost`, with any port.
fn is_this_machine(host: &str) -> bool {
    let is_port = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    // The colons of an IPv6 address are in brackets.
    let name = match host.rsplit_once(':') {
        Some((name, port)) if is_port(port) => name,
        _ => host,
    };
    let address = name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(name);
    name.eq_ignore_ascii_case("localhost")
        || address.parse().is_ok_and(|address: IpAddr| address.is_loopback())
}

impl MetricsSource {
    fn text(&self) -> Result<String, StatusCode> {
        let status = self.status.current().ok_or(StatusCode::SERVICE_UNAVAILABLE)?;
        let mut registry = Registry::with_prefix(PREFIX);
        self.status.visitor.metrics.register(&mut registry);
        self.register(&status, &mut registry);
        let mut text = String::new();
        encode(&mut text, &registry).map_err(|_| StatusCode::INTERNAL_SERVER_ERROR)?;
        Ok(text)
    }

    /// Adds the state of the agent to a registry.
    fn register(&self, status: &StatusFile, registry: &mut Registry) {
        let StatusFile { version, agent, name, .. } = status;
        let labels =
            [("version", version.clone()), ("agent", agent.to_string()), ("name", name.clone())];
        registry.register("build", "Version of the program, and its agent", Info::new(labels));
        let help = "When the agent started, in seconds since 1970";
        gauge(registry, "start_time_seconds", help, self.started.0 as f64 / 1_000.0);
        let help = "1 while the agent is crawling";
        gauge(registry, "working", help, f64::from(status.working));
        idle(registry, status.idle.as_deref());
        let reached =
            status.unreachable.is_none() && status.idle.as_deref() != Some("not_connected");
        let help = "1 if the last call to the coordinator succeeded, and while the agent sleeps";
        gauge(registry, "coordinator_up", help, f64::from(reached));
        let left = self.status.visitor.lease.left().as_secs_f64();
        let help = "Time for which the agent may fetch without another answer of the coordinator";
        gauge(registry, "lease_seconds", help, left);
        gauge(registry, "hosts", "Hosts that the agent crawls", status.hosts as f64);
        gauge(registry, "queued_urls", "URLs in the queues of hosts", status.queued as f64);
        gauge(registry, "running_fetches", "Fetches that are running", status.in_flight as f64);
        let help = "Results that are not packed yet";
        gauge(registry, "unpacked_results", help, status.unpacked as f64);
        let help = "Packages that are not acknowledged yet";
        gauge(registry, "unshipped_packages", help, status.unshipped as f64);
        if let Ok(disk) = statvfs(&self.status.dir) {
            let free = disk.blocks_available() * disk.fragment_size();
            let help = "Free space on the disk of the data directory";
            gauge(registry, "disk_free_bytes", help, free as f64);
        }
        if let Some(bytes) = rss_bytes() {
            gauge(registry, "resident_memory_bytes", "Memory of the process", bytes as f64);
        }
    }
}

fn gauge(registry: &mut Registry, name: &str, help: &str, value: f64) {
    let gauge = Number::default();
    gauge.set(value);
    registry.register(name, help, gauge);
}

/// One gauge for each reason of not crawling, of which at most one is 1.
fn idle(registry: &mut Registry, reason: Option<&str>) {
    let gauges = Family::<Label, Gauge>::default();
    for word in IdleReason::VARIANTS {
        gauges.get_or_create(&[("reason", *word)]).set((reason == Some(*word)).into());
    }
    registry.register("idle", "1 for the reason for which the agent is not crawling", gauges);
}

/// Resident memory of this process, from procfs.
fn rss_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1_024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_a_host_of_the_metrics() {
        for host in ["127.0.0.1", "127.0.0.5:9421", "[::1]:9421", "[::1]", "LocalHost:1"] {
            assert!(is_this_machine(host), "{host}");
        }
        for host in ["", "a.example", "127.0.0.1.a.example:9421", "192.0.2.1:9421", "[::2]", ":1"] {
            assert!(!is_this_machine(host), "{host}");
        }
    }
}
