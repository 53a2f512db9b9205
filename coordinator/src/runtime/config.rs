//! The configuration: values that are fixed while the coordinator runs.
//!
//! Startup settings only: what an admin changes while the coordinator runs (threshold, patience,
//! host delay) is policy and lives in Postgres.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;

use clap::ValueEnum;
use hierarchy::{PrefixLengths, Registry};
use ipnet::IpNet;
use model::UnixMillis;
use protocol::key::PublicKey;
use region::Settings;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use url::Url;

use crate::runtime::storage_location::StorageLocation;

/// The valid configuration, built by `startup::configuration::load`.
#[derive(Debug, Clone)]
pub struct Config {
    /// Address and port of the HTTP server.
    pub listen: SocketAddr,
    /// Address and port of the metrics; `None` serves none.
    pub metrics_listen: Option<SocketAddr>,
    /// URL at which people and agents reach the coordinator; `None` if it was not configured.
    pub public_url: Option<Url>,
    /// Directory of the private database, packages and index.
    pub data_dir: PathBuf,
    /// A Postgres to use instead of a private one.
    pub database_url: Option<String>,
    /// Where the bodies of packages are kept.
    pub storage: StorageLocation,
    /// Options of the S3 client, such as `endpoint_url`; the variables `AWS_*` give the others.
    pub s3: BTreeMap<String, String>,
    /// DNS server for looking up hosts; `None` uses those of the system.
    pub resolver: Option<SocketAddr>,
    /// Format of log lines.
    pub log_format: LogFormat,
    /// Password that each start sets for the account `admin`; without it the first start generates
    /// one.
    pub admin_password: Option<String>,
    /// Reverse proxies whose `X-Forwarded-For` header is trusted.
    pub trusted_proxies: Vec<IpNet>,
    /// Directory with the agent's programs that partners can download; `None` offers none.
    pub agent_downloads: Option<PathBuf>,
    /// Public key of the operator's releases, for the configuration of new agents. It is boxed,
    /// because a parsed key is large and configurations are moved.
    pub release_key: Option<Box<PublicKey>>,
    /// When and from where registry data is refreshed.
    pub registries: Registries,
    /// Whether and how regions are formed.
    pub regions: RegionRules,
    /// Bounds on work and waiting.
    pub limits: Limits,
}

impl Config {
    /// Whether cookies are limited to TLS: always, unless plain http is used on loopback alone. A
    /// trusted proxy is there to terminate TLS.
    pub fn has_secure_cookies(&self) -> bool {
        match &self.public_url {
            Some(url) => url.scheme() == "https",
            None => !self.listen.ip().is_loopback() || !self.trusted_proxies.is_empty(),
        }
    }
}

/// When and from where registry data is refreshed; defaults in parentheses.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Registries {
    /// Age in days at which the data is fetched and loaded again, 0 for never (90: "every three
    /// months", IPMicra III.C).
    pub refresh_days: u32,
    /// Least time in hours from a generation to the next one that splits subnets which are in
    /// several places, 0 for never (24).
    pub split_hours: u32,
    /// Prefix lengths ABOVE/INTO: each load splits IPv4 ranges larger than /ABOVE in which nothing
    /// smaller is recorded into virtual subnets of /INTO (none).
    pub split_v4: Option<String>,
    /// The same for IPv6 (none).
    pub split_v6: Option<String>,
    /// Length of the IPv4 prefix around a host in space that no registry has assigned that becomes
    /// a virtual subnet, 16 to 32 (22).
    pub unregistered_v4: u8,
    /// The same for IPv6, 32 to 128 (44).
    pub unregistered_v6: u8,
    /// Most virtual subnets of unregistered space; further hosts there are given up (10,000).
    pub unregistered_subnets: u32,
    /// Whether records of special-purpose space, such as 127.0.0.0/8 and 10.0.0.0/8, are loaded
    /// when the data is refreshed (no). Hosts there are then crawled: only for tests and closed
    /// networks.
    pub special_purpose: bool,
    /// Path of `rir-loader` (the one beside this program).
    pub loader: Option<PathBuf>,
    /// Mirrors of registries' files: registry to the URL of a directory (none).
    #[serde(deserialize_with = "mirrors")]
    pub mirrors: BTreeMap<Registry, Url>,
    /// Whether to fetch the public WHOIS dumps as well, under the registries' terms (no).
    pub whois: bool,
    /// Mirrors of registries' WHOIS dumps (none).
    #[serde(deserialize_with = "mirrors")]
    pub whois_mirrors: BTreeMap<Registry, Url>,
    /// Mail address or URL sent to the registries' servers as contact (none).
    pub contact: Option<String>,
}

/// Refuses what the loader would refuse at the next refresh, which may be in three months.
fn mirrors<'de, D: Deserializer<'de>>(value: D) -> Result<BTreeMap<Registry, Url>, D::Error> {
    let texts = BTreeMap::<Registry, String>::deserialize(value)?;
    let mirror = |(registry, text): (Registry, String)| {
        let url = Url::parse(&text).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
        let error = || {
            D::Error::custom(format!(
                "the mirror of {registry} must be an http or https URL, such as \
                 \"https://mirror.example.org/ripe/\""
            ))
        };
        Ok((registry, url.ok_or_else(error)?))
    };
    texts.into_iter().map(mirror).collect()
}

impl Registries {
    /// Lengths of the prefixes that become virtual subnets in unregistered space.
    pub fn prefix_lengths(&self) -> PrefixLengths {
        PrefixLengths { v4: self.unregistered_v4, v6: self.unregistered_v6 }
    }
}

impl Default for Registries {
    fn default() -> Self {
        Self {
            refresh_days: 90,
            split_hours: 24,
            split_v4: None,
            split_v6: None,
            unregistered_v4: 22,
            unregistered_v6: 44,
            unregistered_subnets: 10_000,
            special_purpose: false,
            loader: None,
            mirrors: BTreeMap::new(),
            whois: false,
            whois_mirrors: BTreeMap::new(),
            contact: None,
        }
    }
}

/// Whether and how regions are formed; defaults in parentheses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RegionRules {
    /// Whether agents whose owners want it form regions (no).
    pub enabled: bool,
    /// Time for which a region may crawl its hosts without the coordinator, in hours (24).
    pub loan_hours: u32,
    /// Times and bounds of regions that are formed from now on.
    pub settings: Settings,
}

impl RegionRules {
    /// Term of a loan, in milliseconds.
    pub fn loan_ms(&self) -> u64 {
        3_600_000 * u64::from(self.loan_hours)
    }
}

impl Default for RegionRules {
    fn default() -> Self {
        Self { enabled: false, loan_hours: 24, settings: Settings::default() }
    }
}

/// Bounds on work and waiting; defaults in parentheses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Time within which an agent answers a probe order, in seconds (20).
    pub probe_deadline_s: u32,
    /// Probe orders one agent may have at the same time (8).
    pub orders_per_agent: u32,
    /// Number of searches without any answer after which the hosts of a subnet are given up (4).
    /// With four, the last one comes half a day after the first.
    pub search_attempts: u32,
    /// Time without a heartbeat after which an agent counts as unreachable, in seconds (60).
    pub presence_s: u32,
    /// Time for which an agent may fetch without an answer from the coordinator, in seconds
    /// (3,600). Two minutes later its hosts may go to other agents.
    pub lease_s: u32,
    /// First lookups of hosts at the same time (256); repeated ones have a quarter of that besides.
    pub resolving_hosts: u32,
    /// Number of lookups without an answer after which a host is given up (12).
    pub resolve_attempts: u32,
    /// Routes in one answer to a heartbeat (500).
    pub routes_per_heartbeat: u32,
    /// Routes that an agent may have without confirming them; more wait in the queue (5,000).
    pub routes_ahead: u32,
    /// Free space on the disk of the data directory below which packages are refused, in MiB (64).
    pub min_free_mib: u32,
    /// Connections of clients in all (4,096).
    pub connections: u32,
    /// Connections that only agents can use, out of those (2,048).
    pub connections_for_agents: u32,
    /// Connections from one IPv4 address or IPv6 /64, besides those of agents and of trusted
    /// proxies (256).
    pub connections_per_address: u32,
    /// Time within which the header of a request arrives, in seconds (10).
    pub header_s: u32,
    /// Time after a response for which a connection stays open, in seconds (75).
    pub idle_connection_s: u32,
    /// Connections to Postgres (12), at least 6; that of the leadership comes on top.
    pub database_connections: u32,
    /// Days for which ended delegations are kept with their searches, 0 for ever (365).
    pub history_days: u32,
    /// Most silent hosts whose pages searches leave out (2,000,000). Each takes 70 bytes of memory,
    /// twice that while the list is refreshed.
    pub silent_hosts: u32,
    /// Time to wait at start for a Postgres that is given by URL, in seconds (30).
    pub database_wait_s: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            probe_deadline_s: 20,
            orders_per_agent: 8,
            search_attempts: 4,
            presence_s: 60,
            lease_s: 3_600,
            resolving_hosts: 256,
            resolve_attempts: 12,
            routes_per_heartbeat: 500,
            routes_ahead: 5_000,
            min_free_mib: 64,
            connections: 4_096,
            connections_for_agents: 2_048,
            connections_per_address: 256,
            header_s: 10,
            idle_connection_s: 75,
            database_connections: 12,
            history_days: 365,
            silent_hosts: 2_000_000,
            database_wait_s: 30,
        }
    }
}

impl Limits {
    /// An agent without a heartbeat since then counts as unreachable.
    pub fn heartbeat_cutoff(&self, now: UnixMillis) -> UnixMillis {
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
