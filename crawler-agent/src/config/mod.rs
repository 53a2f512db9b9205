//! The owner's configuration file (TOML; `agent.example.toml` shows every key).
//!
//! The file is deserialised straight into types that can only hold valid values ([`values`] has
//! the parsers). An error names the line and column of the mistake and what to write instead;
//! unknown keys are errors.

mod location;
mod owner_rules;
mod peer_rules;
mod place;
mod ship_rules;
mod update_rules;
mod values;

use std::{
    net::{IpAddr, SocketAddr},
    path::{Path, PathBuf},
    time::Duration,
};

use ipnet::IpNet;
use jiff::tz::TimeZone;
use model::ProbeMethod;
use protocol::enrol::AgentProfile;
use serde::Deserialize;
use url::Url;

use crate::{guard::GuardRules, spans::Spans};
use location::Location;
use owner_rules::{BudgetTable, SmallBudget};
use peer_rules::{LoneKey, PeerTable};
use place::Place;
use update_rules::UpdateTable;
use values::{
    AgentName, Contact, HostSuffix, LoopbackAddress, NameServer, Port, Required, SpanLine, Value,
    integer, kib_rate, list, mib, millis,
};

pub use owner_rules::{BudgetRules, IdleRules};
pub use peer_rules::PeerRules;
pub use ship_rules::ShipRules;
pub use update_rules::{LaunchRules, UpdateRules};

/// The owner's rules. Nothing that a coordinator sends changes them.
#[derive(Debug, Clone)]
pub struct Config {
    /// Base URL of the coordinator; https, unless it is on this machine or the owner allows plain
    /// http.
    pub coordinator: Url,
    /// What the agent tells the coordinator about itself when it enrols.
    pub profile: AgentProfile,
    /// Time zone of spans and budgets.
    pub zone: TimeZone,
    /// Hours in which the agent may work.
    pub spans: Spans,
    /// What the agent may use in a day and in a month.
    pub budget: BudgetRules,
    /// When the machine is left to its other users.
    pub idle: IdleRules,
    /// Directory of key, frontier, packages and activity log; none leaves the choice to the
    /// program.
    pub data_dir: Option<PathBuf>,
    /// Source address of everything that is sent; none leaves the choice to the system.
    pub bind: Option<IpAddr>,
    /// Name servers; empty for those of the system.
    pub resolver: Vec<SocketAddr>,
    /// Addresses, names and ports that may be contacted.
    pub guard: GuardRules,
    /// How round trips may be measured.
    pub probe: ProbeRules,
    /// Bounds of what the agent may use.
    pub limits: Limits,
    /// When results are packed.
    pub ship: ShipRules,
    /// Loopback address at which the owner may read metrics; none serves none.
    pub metrics_listen: Option<SocketAddr>,
    /// Whether the agent may be in a region; none while the owner does not want it.
    pub peer: Option<PeerRules>,
    /// How the agent updates itself; none while the owner does not want it.
    pub update: Option<UpdateRules>,
}

/// How round trips may be measured.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ProbeRules {
    /// Methods that the owner allows.
    #[serde(deserialize_with = "list")]
    pub methods: Vec<ProbeMethod>,
    /// Time limit of one sample.
    #[serde(rename = "timeout_ms", deserialize_with = "millis::<_, 10, 60_000>")]
    pub timeout: Duration,
    /// Addresses, not probed before, that may be probed in a minute. It keeps a coordinator from
    /// using the agent as a scanner.
    #[serde(deserialize_with = "integer::<_, _, 0, 100_000>")]
    pub new_targets_per_minute: u32,
    /// Probes that may run at the same time.
    #[serde(deserialize_with = "integer::<_, _, 1, 100>")]
    pub concurrency: usize,
}

impl Default for ProbeRules {
    fn default() -> Self {
        Self {
            methods: vec![ProbeMethod::Icmp, ProbeMethod::Tcp, ProbeMethod::Head],
            timeout: Duration::from_secs(3),
            new_targets_per_minute: 120,
            concurrency: 8,
        }
    }
}

/// Bounds of what the agent may use.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Least time between the end of one request to a host and the start of the next.
    #[serde(rename = "host_delay_ms", deserialize_with = "millis::<_, 0, 3_600_000>")]
    pub host_delay: Duration,
    /// Fetches that may run at the same time.
    #[serde(deserialize_with = "integer::<_, _, 1, 1_000>")]
    pub concurrency: usize,
    /// Names of hosts that may be looked up in a second.
    #[serde(deserialize_with = "integer::<_, _, 1, 10_000>")]
    pub lookups_per_second: u32,
    /// Bytes a second that all fetches together read; none for no limit.
    #[serde(rename = "kib_per_second", deserialize_with = "kib_rate::<_, 8, 10_000_000>")]
    pub bytes_per_second: Option<u64>,
    /// Time limit for a connection, TLS included.
    #[serde(rename = "connect_ms", deserialize_with = "millis::<_, 10, 600_000>")]
    pub connect: Duration,
    /// Time limit from sending a request to the first byte of the answer.
    #[serde(rename = "first_byte_ms", deserialize_with = "millis::<_, 10, 600_000>")]
    pub first_byte: Duration,
    /// Time limit for a whole fetch.
    #[serde(rename = "fetch_ms", deserialize_with = "millis::<_, 10, 600_000>")]
    pub fetch: Duration,
    /// Pause after a first failure of a host; it doubles with each further one.
    #[serde(rename = "retry_ms", deserialize_with = "millis::<_, 10, 3_600_000>")]
    pub retry: Duration,
    /// Largest body on the wire, in bytes.
    #[serde(rename = "wire_mib", deserialize_with = "mib::<_, 1, 1_024>")]
    pub wire_bytes: u64,
    /// Largest body once inflated, in bytes; sitemaps and feeds may have two and a half times as
    /// many.
    #[serde(rename = "plain_mib", deserialize_with = "mib::<_, 1, 1_024>")]
    pub plain_bytes: u64,
    /// Most bytes that the data directory may take.
    #[serde(rename = "disk_mib", deserialize_with = "mib::<_, 1, 1_000_000_000>")]
    pub disk_bytes: u64,
    /// Bytes that must stay free on the disk of the data directory.
    #[serde(rename = "disk_floor_mib", deserialize_with = "mib::<_, 0, 1_000_000_000>")]
    pub disk_floor_bytes: u64,
    /// Days that the activity log is kept.
    #[serde(deserialize_with = "integer::<_, _, 1, 36_500>")]
    pub activity_log_days: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            host_delay: Duration::from_secs(1),
            concurrency: 64,
            lookups_per_second: 100,
            bytes_per_second: None,
            connect: Duration::from_secs(10),
            first_byte: Duration::from_secs(20),
            fetch: Duration::from_mins(1),
            retry: Duration::from_secs(30),
            wire_bytes: 10 << 20,
            plain_bytes: 20 << 20,
            disk_bytes: 10 << 30,
            disk_floor_bytes: 1 << 30,
            activity_log_days: 90,
        }
    }
}

/// The file as it is written; becomes a [`Config`].
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    coordinator: Required<Url>,
    #[serde(default)]
    allow_plain_http: bool,
    contact: Required<Contact>,
    name: Option<Value<AgentName>>,
    data_dir: Option<PathBuf>,
    #[serde(default = "default_capacity")]
    #[serde(deserialize_with = "integer::<_, _, 1, 1_000_000_000>")]
    capacity_pages_per_day: u32,
    zone: Option<Value<TimeZone>>,
    #[serde(default, deserialize_with = "list")]
    spans: Vec<SpanLine>,
    place: Option<Place>,
    bind: Option<Value<IpAddr>>,
    #[serde(default, deserialize_with = "list")]
    resolver: Vec<NameServer>,
    #[serde(default)]
    guard: Guard,
    #[serde(default)]
    probe: ProbeRules,
    #[serde(default)]
    budget: BudgetTable,
    #[serde(default)]
    idle: IdleRules,
    #[serde(default)]
    limits: Limits,
    #[serde(default)]
    ship: ShipRules,
    #[serde(default)]
    metrics: MetricsTable,
    #[serde(default)]
    peer: PeerTable,
    #[serde(default)]
    update: UpdateTable,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct MetricsTable {
    listen: Option<Value<LoopbackAddress>>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct Guard {
    #[serde(deserialize_with = "list")]
    allow: Vec<IpNet>,
    #[serde(deserialize_with = "list")]
    deny: Vec<IpNet>,
    #[serde(deserialize_with = "list")]
    deny_hosts: Vec<HostSuffix>,
    ports: Option<Vec<Port>>,
}

fn default_capacity() -> u32 {
    50_000
}

/// A configuration that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("{path} cannot be read: {error}; name the configuration file with --config")]
    Read {
        /// The configuration file.
        path: PathBuf,
        /// Error of the system.
        error: std::io::Error,
    },
    /// The file holds a mistake.
    #[error("{location}: {what}")]
    Content {
        /// Line and column of the mistake.
        location: Location,
        /// The mistake, and what to write instead.
        what: String,
    },
    /// A single body could use a budget of bytes up.
    #[error(
        "{location}: `{key}` is smaller than `wire_mib` in [limits], the largest body: write at \
         least {least_mib}, or a smaller `wire_mib`"
    )]
    SmallBudget {
        /// Line and column of the budget.
        location: Location,
        /// Key of the budget.
        key: &'static str,
        /// Size of the largest body, in MiB.
        least_mib: u64,
    },
    /// A listener that no peer finds, a URL without a listener, or updates without a release key.
    #[error("{location}: `{key}` in [{table}] needs `{other}`: write both, or neither")]
    LoneKey {
        /// Line and column of the key's value.
        location: Location,
        /// The table that it is in.
        table: &'static str,
        /// The key that is there.
        key: &'static str,
        /// The key that is missing.
        other: &'static str,
    },
    /// What is sent to the coordinator would not be encrypted.
    #[error(
        "{location}: `coordinator` is {url}, which is neither encrypted nor on this machine: write \
         https://, or set allow_plain_http = true if nobody in between can read or change what is \
         sent"
    )]
    PlainHttp {
        /// The configuration file, without a line.
        location: Location,
        /// URL of the coordinator.
        url: String,
    },
}

impl Config {
    /// Reads the configuration file `path`.
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| ConfigError::Read { path: path.to_owned(), error })?;
        Self::parse(&text, path)
    }

    /// Parses `text`, which came from `path`. Relative paths in it start at that file's directory.
    pub fn parse(text: &str, path: &Path) -> Result<Self, ConfigError> {
        let file: File = toml::from_str(text).map_err(|error| ConfigError::Content {
            location: Location::new(path, text, error.span()),
            what: error.message().lines().collect::<Vec<_>>().join(" "),
        })?;
        let url = &file.coordinator.0;
        if url.scheme() == "http" && !is_on_loopback(url) && !file.allow_plain_http {
            let location = Location::new(path, text, None);
            return Err(ConfigError::PlainHttp { location, url: url.to_string() });
        }
        if let Some(LoneKey { key, other, span }) = file.peer.lone_key() {
            let location = Location::new(path, text, Some(span));
            return Err(ConfigError::LoneKey { location, table: "peer", key, other });
        }
        if let Some(span) = file.update.lone_mode() {
            let location = Location::new(path, text, Some(span));
            let table = "update";
            return Err(ConfigError::LoneKey { location, table, key: "mode", other: "key" });
        }
        let least_mib = file.limits.wire_bytes >> 20;
        let config = file.into_config(path.parent().unwrap_or(Path::new("")));
        config.map_err(|SmallBudget { key, span }| {
            let location = Location::new(path, text, Some(span));
            ConfigError::SmallBudget { location, key, least_mib }
        })
    }

    /// Value of the User-Agent header in every request.
    pub fn user_agent(&self) -> String {
        format!("nearcrawl/{} (+{})", self.profile.version, self.profile.contact)
    }
}

/// Whether the URL leads to this very machine.
pub fn is_on_loopback(url: &Url) -> bool {
    match url.host() {
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        Some(url::Host::Domain(name)) => name == "localhost",
        None => false,
    }
}

impl File {
    fn into_config(self, directory: &Path) -> Result<Config, SmallBudget> {
        let zone = self.zone.map_or(TimeZone::UTC, |zone| zone.0);
        let name = self.name.map_or_else(AgentName::of_machine, |name| name.0);
        let profile = AgentProfile {
            name: name.0,
            contact: self.contact.0.0,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            capacity_pages_per_day: self.capacity_pages_per_day,
            zone: zone.iana_name().unwrap_or("UTC").to_owned(),
            spans: self.spans.iter().map(|line| line.text.clone()).collect(),
            place: self.place.map(|place| place.0),
        };
        let budget = self.budget.into_rules(self.capacity_pages_per_day, self.limits.wire_bytes)?;
        Ok(Config {
            coordinator: self.coordinator.0,
            profile,
            zone: zone.clone(),
            budget,
            idle: self.idle,
            spans: Spans::new(zone, self.spans.into_iter().map(|line| line.span).collect()),
            data_dir: self.data_dir.map(|dir| directory.join(dir)),
            bind: self.bind.map(|bind| bind.0),
            resolver: self.resolver.into_iter().map(|server| server.0).collect(),
            guard: self.guard.into_rules(),
            probe: self.probe,
            limits: self.limits,
            ship: self.ship,
            metrics_listen: self.metrics.listen.map(|listen| listen.0.0),
            peer: self.peer.into_rules(),
            update: self.update.into_rules(),
        })
    }
}

impl Guard {
    fn into_rules(self) -> GuardRules {
        let deny_hosts = self.deny_hosts.into_iter().map(|suffix| suffix.0).collect();
        let ports = self.ports.map(|ports| ports.iter().map(|port| port.0).collect());
        let ports = ports.unwrap_or_else(|| GuardRules::default().ports);
        GuardRules::new(&self.allow, &self.deny, deny_hosts, ports)
    }
}

#[cfg(test)]
mod tests;
