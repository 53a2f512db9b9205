//! From flags, environment, file and defaults to one valid configuration.
//!
//! Startup settings only: what an admin changes while the coordinator runs (threshold, patience,
//! host delay) is policy and lives in Postgres.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use ipnet::IpNet;
use serde::Deserialize;

use crate::runtime::failure::Failure;
use crate::startup::cli::{LogFormat, ServeArgs};

/// Everything the coordinator is told at start; built by [`Config::load`], valid by construction.
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
#[derive(Debug, Clone, Deserialize)]
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
    fn check(&self) -> Result<(), Failure> {
        let at_least_one = [
            ("open_searches", self.open_searches),
            ("probe_deadline_s", self.probe_deadline_s),
            ("orders_per_agent", self.orders_per_agent),
            ("search_attempts", self.search_attempts),
            ("presence_s", self.presence_s),
            ("lease_s", self.lease_s),
            ("resolving_hosts", self.resolving_hosts),
            ("resolve_attempts", self.resolve_attempts),
            ("routes_per_heartbeat", self.routes_per_heartbeat),
            ("routes_ahead", self.routes_ahead),
            ("database_connections", self.database_connections),
        ];
        match at_least_one.iter().find(|(_, value)| *value == 0) {
            Some((key, _)) => {
                Err(Failure::configuration(format!("[limits] {key} must be at least 1")))
            }
            None => Ok(()),
        }
    }
}

/// The file as written, before flags and defaults are laid over it.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct File {
    listen: Option<SocketAddr>,
    data_dir: Option<PathBuf>,
    database_url: Option<String>,
    resolver: Option<SocketAddr>,
    log_format: Option<LogFormat>,
    trusted_proxies: Vec<String>,
    registries: Registries,
    limits: Limits,
}

impl Config {
    /// Lays flags (which already carry the environment) over the file over the defaults.
    ///
    /// Fails with exit code 64 and the place in the file when something cannot be understood.
    pub fn load(
        args: ServeArgs,
        default_data_dir: impl FnOnce() -> Option<PathBuf>,
    ) -> Result<Self, Failure> {
        let file = match &args.config {
            Some(path) => read(path)?,
            None => File::default(),
        };
        file.limits.check()?;
        let data_dir =
            args.data_dir.or(file.data_dir).or_else(default_data_dir).ok_or_else(|| {
                Failure::configuration(
                    "no data directory: this user has no home, so give one with --data-dir",
                )
            })?;
        Ok(Self {
            listen: args
                .listen
                .or(file.listen)
                .unwrap_or(SocketAddr::from((Ipv4Addr::LOCALHOST, 8420))),
            data_dir,
            database_url: args.database_url.or(file.database_url).filter(|url| !url.is_empty()),
            resolver: args.resolver.or(file.resolver),
            log_format: args.log_format.or(file.log_format).unwrap_or_default(),
            admin_password: args.admin_password.filter(|password| !password.is_empty()),
            trusted_proxies: proxies(&file.trusted_proxies)?,
            registries: file.registries,
            limits: file.limits,
        })
    }
}

/// Addresses and prefixes.
fn proxies(texts: &[String]) -> Result<Vec<IpNet>, Failure> {
    let proxy = |text: &String| {
        let address = text.parse::<IpAddr>().map(IpNet::from).ok();
        address.or_else(|| text.parse().ok()).ok_or_else(|| {
            Failure::configuration(format!(
                "trusted_proxies: {text:?} is neither an address nor a prefix such as 10.0.0.0/8"
            ))
        })
    };
    texts.iter().map(proxy).collect()
}

fn read(path: &Path) -> Result<File, Failure> {
    let text = std::fs::read_to_string(path).map_err(|e| {
        Failure::configuration(format!("cannot read the configuration {}: {e}", path.display()))
    })?;
    toml::from_str(&text).map_err(|e| {
        let line =
            e.span().map_or(1, |span| text[..span.start.min(text.len())].matches('\n').count() + 1);
        Failure::configuration(format!("{}, line {line}: {}", path.display(), e.message().trim()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(text: &str, args: ServeArgs) -> Result<Config, Failure> {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let path = dir.path().join("coordinator.toml");
        std::fs::write(&path, text).expect("the file is written");
        Config::load(ServeArgs { config: Some(path), ..args }, || Some(PathBuf::from("/nowhere")))
    }

    #[test]
    fn a_flag_wins_over_the_file_and_the_file_over_the_default() {
        let flag = ServeArgs { listen: Some(([127, 0, 0, 1], 1).into()), ..ServeArgs::default() };
        let config = load("listen = '127.0.0.1:2'\nresolver = '127.0.0.1:3'", flag)
            .expect("a configuration");
        assert_eq!(config.listen.port(), 1);
        assert_eq!(config.resolver.map(|r| r.port()), Some(3));
        assert_eq!(config.data_dir, PathBuf::from("/nowhere"));
        assert_eq!(config.limits.open_searches, 32);
    }

    #[test]
    fn an_unknown_key_is_refused_with_its_line() {
        let failure =
            load("\n[limits]\nopen_serches = 3\n", ServeArgs::default()).expect_err("a failure");
        assert_eq!(failure.code(), 64);
        let sentence = failure.to_string();
        assert!(sentence.contains("line 3") && sentence.contains("open_serches"), "{sentence}");
    }

    #[test]
    fn the_example_is_a_configuration() {
        let config =
            load(include_str!("../../../deploy/coordinator.example.toml"), ServeArgs::default());
        assert_eq!(config.expect("a configuration").registries.refresh_days, 90);
    }

    #[test]
    fn proxies_are_addresses_or_prefixes() {
        let config = load("trusted_proxies = ['127.0.0.1', '10.0.0.0/8']", ServeArgs::default());
        assert_eq!(config.expect("a configuration").trusted_proxies.len(), 2);
        let failure = load("trusted_proxies = ['proxy.example']", ServeArgs::default())
            .expect_err("a failure");
        assert!(failure.to_string().contains("proxy.example"), "{failure}");
    }

    #[test]
    fn a_limit_of_nothing_is_refused_by_name() {
        let failure =
            load("[limits]\nopen_searches = 0\n", ServeArgs::default()).expect_err("a failure");
        assert!(failure.to_string().contains("open_searches"), "{failure}");
    }
}
