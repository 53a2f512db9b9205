//! The configuration: values that are fixed while the coordinator runs.
//!
//! Startup settings only: what an admin changes while the coordinator runs (threshold, patience,
//! host delay) is policy and lives in Postgres.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;

use clap::ValueEnum;
use ipnet::IpNet;
use model::UnixMillis;
use serde::Deserialize;

/// The valid configuration, built by `startup::configuration::load`.
#[derive(Debug, Clone)]
pub struct Config {
    /// Where to listen.
    pub listen: SocketAddr,
    /// Where the private database, packages and index live.
    pub data_dir: PathBuf,
    /// A Postgres to use instead of a private one.
    pub database_url: Option<String>,
    /// DNS server for hosts; the system's when absent.
    pub resolver: Option<SocketAddr>,
    /// Shape of log lines.
    pub log_format: LogFormat,
    /// Password for the first admin, if it is to be set rather than made up.
    pub admin_password: Option<String>,
    /// Reverse proxies whose `X-Forwarded-For` is believed.
    pub trusted_proxies: Vec<IpNet>,
    /// How registry data is kept fresh.
    pub registries: Registries,
    /// Bounds on work and waiting.
    pub limits: Limits,
}

/// How registry data is kept fresh, each with its default in the documentation of the field.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Registries {
    /// Age in days at which the data is fetched and loaded anew, 0 for never (90: "every three
    /// months", IPMicra III.C).
    pub refresh_days: u32,
    /// Age in hours of a generation at which subnets are cut that searches found to be in several
    /// places, 0 for never (24).
    pub cut_hours: u32,
    /// The program that fetches and loads (`rir-loader` beside this program).
    pub loader: Option<PathBuf>,
    /// Places to take a registry's files from instead of its own: registry to the URL of a
    /// directory (none).
    pub mirrors: BTreeMap<String, String>,
    /// Whether to fetch the WHOIS dumps, too, that registries give to everybody, under their terms
    /// (no).
    pub whois: bool,
    /// Places to take a registry's WHOIS dumps from instead of its own (none).
    pub whois_mirrors: BTreeMap<String, String>,
    /// A mail address or URL that is told to the registries' servers (none).
    pub contact: Option<String>,
}

impl Default for Registries {
    fn default() -> Self {
        Self {
            refresh_days: 90,
            cut_hours: 24,
            loader: None,
            mirrors: BTreeMap::new(),
            whois: false,
            whois_mirrors: BTreeMap::new(),
            contact: None,
        }
    }
}

/// Bounds on work and waiting, each with its default in the documentation of the field.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Searches driven at the same time (32); later searches profit from the decisions of earlier
    /// ones.
    pub open_searches: u32,
    /// How long an agent has to answer a probe order, in seconds (20).
    pub probe_deadline_s: u32,
    /// Probe orders one agent may have at the same time (8).
    pub orders_per_agent: u32,
    /// Searches without any answer before the hosts of a subnet are given up (4).
    pub search_attempts: u32,
    /// Without a heartbeat for so long an agent counts as unreachable, in seconds (60).
    pub presence_s: u32,
    /// How long an agent goes on fetching without an answer from the coordinator, in seconds
    /// (3,600); its hosts may go to others two minutes after that.
    pub lease_s: u32,
    /// DNS questions under way at the same time (64).
    pub resolving_hosts: u32,
    /// DNS attempts without an answer before a host is given up (12).
    pub resolve_attempts: u32,
    /// Routes handed out in one answer to a heartbeat (500).
    pub routes_per_heartbeat: u32,
    /// Routed but unconfirmed URLs an agent may have before more wait in the queue (5,000).
    pub routes_ahead: u32,
    /// Packages are refused when the data directory's disk has less than so many MiB free (64).
    pub min_free_mib: u32,
    /// Connections to Postgres (12).
    pub database_connections: u32,
    /// How long to wait for a Postgres given by URL at start, in seconds (30).
    pub database_wait_s: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            open_searches: 32,
            probe_deadline_s: 20,
            orders_per_agent: 8,
            search_attempts: 4,
            presence_s: 60,
            lease_s: 3_600,
            resolving_hosts: 64,
            resolve_attempts: 12,
            routes_per_heartbeat: 500,
            routes_ahead: 5_000,
            min_free_mib: 64,
            database_connections: 12,
            database_wait_s: 30,
        }
    }
}

impl Limits {
    /// An agent without a heartbeat since then counts as unreachable.
    pub fn heard_since(&self, now: UnixMillis) -> UnixMillis {
        now.plus_ms(-1_000 * i64::from(self.presence_s))
    }
}

/// Format of log lines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// One readable line per event.
    #[default]
    Text,
    /// One JSON object per line.
    Json,
}
