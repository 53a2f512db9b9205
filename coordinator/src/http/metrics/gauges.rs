//! The state of the coordinator as gauges.

use std::sync::atomic::AtomicU64;

use model::UnixMillis;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::Registry;
use store::backlog::Backlog;
use store::overview::Agents;

use crate::http::metrics::state::{CoordinatorState, HierarchyState, StoredState};
use crate::packages::index_gaps::IndexGaps;
use crate::runtime::metrics::Label;

type Number = Gauge<f64, AtomicU64>;

impl CoordinatorState {
    /// Adds the gauges to a registry. What is unknown has no gauge.
    pub(super) fn register(&self, registry: &mut Registry) {
        let version = env!("CARGO_PKG_VERSION");
        let protocol = protocol::version::CURRENT.0.to_string();
        let build = Info::new([("version", version.to_owned()), ("protocol", protocol)]);
        registry.register("build", "Versions of the program and of the agent protocol", build);
        let help = "When the coordinator started, in seconds since 1970";
        gauge(registry, "start_time_seconds", help, self.started_at.0 as f64 / 1_000.0);
        let help = "1 on the coordinator that decides, 0 on the others";
        gauge(registry, "leader", help, f64::from(self.is_leader));
        let help = "Free space on the disk of the data directory";
        optional(registry, "disk_free_bytes", help, self.disk_free_bytes);
        optional(registry, "resident_memory_bytes", "Memory of the process", self.rss_bytes);
        let documents = self.index_documents as f64;
        gauge(registry, "index_documents", "Pages in the search index", documents);
        if let Some(IndexGaps { waiting, failed }) = self.index_gaps {
            let family = ("index_missing_packages", "Packages that this index lacks by state");
            let values = [("waiting", waiting as f64), ("failed", failed as f64)];
            labelled(registry, family, "state", &values);
        }
        optional(registry, "index_bytes", "Size of the search index on disk", self.index_bytes);
        let (silent, limit) = self.silent_hosts;
        let help = "Silent hosts whose pages searches leave out";
        gauge(registry, "silent_hosts", help, silent as f64);
        let help = "Most silent hosts whose pages searches leave out";
        gauge(registry, "silent_hosts_limit", help, f64::from(limit));
        let findings = self.audit_findings.map(|count| count as u64);
        let help = "Things to repair that the last audit of the delegations found";
        optional(registry, "audit_findings", help, findings);
        connections(registry, self.connections);
        if let Some(hierarchy) = &self.hierarchy {
            register_hierarchy(registry, hierarchy);
        }
        let help = "1 if the database answered this scrape; what it knows is missing otherwise";
        gauge(registry, "database_up", help, f64::from(self.stored.is_some()));
        if let Some(StoredState { agents: counts, backlog, registry_overdue_ms }) = &self.stored {
            agents(registry, counts);
            register_backlog(registry, backlog, self.at);
            let help = "How long ago the registries' data should have been replaced by newer";
            let seconds = *registry_overdue_ms as f64 / 1_000.0;
            gauge(registry, "registry_overdue_seconds", help, seconds);
        }
    }
}

fn gauge(registry: &mut Registry, name: &str, help: &str, value: f64) {
    let gauge = Number::default();
    gauge.set(value);
    registry.register(name, help, gauge);
}

fn optional(registry: &mut Registry, name: &str, help: &str, value: Option<u64>) {
    if let Some(value) = value {
        gauge(registry, name, help, value as f64);
    }
}

fn labelled(
    registry: &mut Registry,
    (name, help): (&str, &str),
    label: &'static str,
    values: &[(&'static str, f64)],
) {
    let gauges = Family::<Label, Number>::default();
    for (word, value) in values {
        gauges.get_or_create(&[(label, *word)]).set(*value);
    }
    registry.register(name, help, gauges);
}

fn connections(registry: &mut Registry, (open, idle): (u32, usize)) {
    let busy = f64::from(open) - idle as f64;
    let family = ("database_connections", "Open connections to the database");
    labelled(registry, family, "state", &[("idle", idle as f64), ("busy", busy)]);
}

fn register_hierarchy(registry: &mut Registry, hierarchy: &HierarchyState) {
    let HierarchyState { generation, subnets, delegated } = hierarchy;
    let help = "Generation of the hierarchy in use";
    gauge(registry, "hierarchy_generation", help, *generation as f64);
    gauge(registry, "hierarchy_subnets", "Subnets of the hierarchy in use", *subnets as f64);
    gauge(registry, "delegated_subnets", "Subnets that have an agent", *delegated as f64);
}

fn agents(registry: &mut Registry, counts: &Agents) {
    // The states exclude each other, so that their sum is the number of agents.
    let values = [
        ("pending", counts.pending),
        ("awake", counts.awake),
        ("asleep", counts.asleep),
        ("unreachable", counts.unreachable),
        ("paused", counts.paused),
        ("revoked", counts.revoked),
    ];
    let values = values.map(|(state, count)| (state, count as f64));
    labelled(registry, ("agents", "Agents by state"), "state", &values);
}

fn register_backlog(registry: &mut Registry, backlog: &Backlog, now: UnixMillis) {
    let age = |since: Option<UnixMillis>| {
        since.map_or(0.0, |since| now.0.saturating_sub(since.0).max(0) as f64 / 1_000.0)
    };
    let help = "Delegation searches that are open, counted up to 10,000";
    gauge(registry, "searches_open", help, backlog.searches as f64);
    let help = "Probes that agents have not answered, counted up to 10,000";
    gauge(registry, "probes_open", help, backlog.probes as f64);
    let values =
        [("waiting", backlog.packages as f64), ("set_aside", backlog.packages_set_aside as f64)];
    let family =
        ("ledger_packages", "Packages that were not applied by state, counted up to 10,000");
    labelled(registry, family, "state", &values);
    let help = "Age of the oldest package that waits to be ingested";
    gauge(registry, "ingest_lag_seconds", help, age(backlog.oldest_package));
    let values =
        [("address", backlog.unresolved_hosts as f64), ("agent", backlog.waiting_hosts as f64)];
    let family = ("waiting_hosts", "Waiting hosts by what they lack, counted up to 10,000");
    labelled(registry, family, "lacks", &values);
    let help = "How long the first host has waited for its DNS lookup";
    gauge(registry, "dns_lag_seconds", help, age(backlog.oldest_unresolved));
    let help = "URLs that wait until their host has an agent, counted up to 10,000";
    gauge(registry, "waiting_urls", help, backlog.urls as f64);
}
