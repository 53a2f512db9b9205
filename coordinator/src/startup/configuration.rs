//! Merges flags, environment, configuration file and defaults into one valid configuration.
//!
//! Startup settings only: what an admin changes while the coordinator runs (threshold, patience,
//! host delay) is the policy, which lives in Postgres.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use hierarchy::{SplitLeaves, check_contact};
use ipnet::IpNet;
use protocol::key::{KeyError, PublicKey};
use serde::Deserialize;
use url::{Host, Url};

use crate::http::admin::accounts::password_error;
use crate::runtime::config::{Config, Limits, LogFormat, RegionRules, Registries};
use crate::runtime::failure::Failure;
use crate::runtime::storage_location::{LocationError, StorageLocation};
use crate::startup::cli::ServeArgs;
use crate::startup::secret_file;

/// Least connections to the database. The listeners of `generation_listener`, `peer_notifications`
/// and `delegation_sync` keep one each, so with three or fewer no request would ever get one.
const LEAST_DATABASE_CONNECTIONS: u32 = 6;

/// The content of the file, before flags and defaults are merged with it.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct File {
    listen: Option<SocketAddr>,
    metrics_listen: Option<SocketAddr>,
    public_url: Option<String>,
    data_dir: Option<PathBuf>,
    database_url: Option<String>,
    storage: Option<String>,
    s3: BTreeMap<String, String>,
    resolver: Option<SocketAddr>,
    log_format: Option<LogFormat>,
    trusted_proxies: Vec<String>,
    agent_downloads: Option<PathBuf>,
    release_key: Option<String>,
    registries: Registries,
    regions: RegionRules,
    limits: Limits,
}

/// Merges flags (which include the environment), file and defaults, in this order of precedence.
///
/// An invalid value is a failure with exit code 64 that names the line of the file.
pub fn load(
    args: ServeArgs,
    default_data_dir: impl FnOnce() -> Option<PathBuf>,
) -> Result<Config, Failure> {
    let file = match &args.config {
        Some(path) => read(path)?,
        None => File::default(),
    };
    check(&file.limits)?;
    check_loader_arguments(&file.registries)?;
    let admin_password = match &args.admin_password_file {
        Some(path) => Some(secret_file::read(path, "password", "--admin-password-file")?),
        None => args.admin_password.filter(|password| !password.is_empty()),
    };
    if let Some(error) = admin_password.as_deref().and_then(|it| password_error("password", it)) {
        return Err(Failure::configuration(format!("the admin's password: {}", error.message)));
    }
    check_registries(&file.registries)?;
    check_regions(&file.regions)?;
    let data_dir = args.data_dir.or(file.data_dir).or_else(default_data_dir).ok_or_else(|| {
        Failure::configuration(
            "no data directory: this user has no home, so give one with --data-dir",
        )
    })?;
    Ok(Config {
        listen: args
            .listen
            .or(file.listen)
            .unwrap_or(SocketAddr::from((Ipv4Addr::LOCALHOST, 8420))),
        metrics_listen: args.metrics_listen.or(file.metrics_listen),
        public_url: args
            .public_url
            .or(file.public_url)
            .map(|text| public_url(&text))
            .transpose()?,
        data_dir,
        database_url: database_url(args.database_url, file.database_url),
        storage: storage(args.storage.or(file.storage))?,
        s3: file.s3,
        resolver: args.resolver.or(file.resolver),
        log_format: args.log_format.or(file.log_format).unwrap_or_default(),
        admin_password,
        trusted_proxies: proxies(&file.trusted_proxies)?,
        agent_downloads: downloads(args.agent_downloads.or(file.agent_downloads))?,
        release_key: file.release_key.as_deref().map(release_key).transpose()?,
        registries: file.registries,
        regions: file.regions,
        limits: file.limits,
    })
}

/// The first one that is not empty: a variable may be set to nothing in a unit or a container.
fn database_url(flag: Option<String>, file: Option<String>) -> Option<String> {
    [flag, file].into_iter().flatten().find(|url| !url.is_empty())
}

/// An https URL, or an http URL of this machine: with plain http, passwords and sessions can be
/// read on the way.
fn public_url(text: &str) -> Result<Url, Failure> {
    let failure = |rule: &str| Failure::configuration(format!("public_url: {text:?} {rule}"));
    let url = Url::parse(text).map_err(|error| failure(&format!("is no URL: {error}")))?;
    if !url.has_host() {
        return Err(failure("has no host"));
    }
    match url.scheme() {
        "https" => Ok(url),
        "http" if is_of_this_machine(&url) => Ok(url),
        _ => Err(failure("must begin with https://, or be an http URL of this machine")),
    }
}

/// Whether only programs of this machine reach the URL.
pub(super) fn is_of_this_machine(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// A mistyped directory is reported at the start, not to the first partner.
fn downloads(dir: Option<PathBuf>) -> Result<Option<PathBuf>, Failure> {
    match dir {
        Some(dir) if !dir.is_dir() => Err(Failure::configuration(format!(
            "agent_downloads: {} is not a directory; make it, and put the program nearcrawl-agent \
             there",
            dir.display()
        ))),
        dir => Ok(dir),
    }
}

/// Each new agent gets it in its configuration, so that a typing error must not reach them.
fn release_key(text: &str) -> Result<Box<PublicKey>, Failure> {
    text.parse().map(Box::new).map_err(|error: KeyError| {
        Failure::configuration(format!(
            "release_key: {text:?} is {error}; write the public key that `nearcrawl-coordinator \
             release new-key` printed"
        ))
    })
}

fn storage(text: Option<String>) -> Result<StorageLocation, Failure> {
    let parsed = text.map_or_else(|| Ok(StorageLocation::default()), |text| text.parse());
    parsed.map_err(|error: LocationError| Failure::configuration(error.to_string()))
}

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
        Failure::configuration(format!(
            "cannot read the configuration {}: {e}; name a file that you may read with --config",
            path.display()
        ))
    })?;
    toml::from_str(&text).map_err(|e| {
        let line =
            e.span().map_or(1, |span| text[..span.start.min(text.len())].matches('\n').count() + 1);
        Failure::configuration(format!("{}, line {line}: {}", path.display(), e.message().trim()))
    })
}

fn check(limits: &Limits) -> Result<(), Failure> {
    let at_least_one = [
        ("probe_deadline_s", limits.probe_deadline_s),
        ("orders_per_agent", limits.orders_per_agent),
        ("search_attempts", limits.search_attempts),
        ("presence_s", limits.presence_s),
        ("lease_s", limits.lease_s),
        ("resolving_hosts", limits.resolving_hosts),
        ("resolve_attempts", limits.resolve_attempts),
        ("routes_per_heartbeat", limits.routes_per_heartbeat),
        ("routes_ahead", limits.routes_ahead),
        ("connections", limits.connections),
        ("connections_per_address", limits.connections_per_address),
        ("header_s", limits.header_s),
        ("idle_connection_s", limits.idle_connection_s),
    ];
    if let Some((key, _)) = at_least_one.iter().find(|(_, value)| *value == 0) {
        return Err(Failure::configuration(format!("[limits] {key} must be at least 1")));
    }
    if limits.connections_for_agents >= limits.connections {
        return Err(Failure::configuration(
            "[limits] connections_for_agents must be less than connections",
        ));
    }
    if limits.database_connections < LEAST_DATABASE_CONNECTIONS {
        return Err(Failure::configuration(format!(
            "[limits] database_connections must be at least {LEAST_DATABASE_CONNECTIONS}: three \
             are always taken by listeners for notifications, and requests and tasks share the rest"
        )));
    }
    Ok(())
}

/// Refuses what the loader would refuse at the next refresh, which may be in three months.
fn check_loader_arguments(registries: &Registries) -> Result<(), Failure> {
    let failure =
        |key: &str, reason: String| Failure::configuration(format!("[registries] {key}: {reason}"));
    if let Some(text) = &registries.split_v4 {
        SplitLeaves::parse_v4(text).map_err(|error| failure("split_v4", error.to_string()))?;
    }
    if let Some(text) = &registries.split_v6 {
        SplitLeaves::parse_v6(text).map_err(|error| failure("split_v6", error.to_string()))?;
    }
    if let Some(text) = &registries.contact {
        check_contact(text).map_err(|error| failure("contact", error.to_string()))?;
    }
    Ok(())
}

fn check_registries(registries: &Registries) -> Result<(), Failure> {
    // Wider prefixes could reach over the blocks of the hierarchy.
    let lengths = [
        ("unregistered_v4", registries.unregistered_v4, 16..=32),
        ("unregistered_v6", registries.unregistered_v6, 32..=128),
    ];
    match lengths.iter().find(|(_, length, allowed)| !allowed.contains(length)) {
        Some((key, _, allowed)) => Err(Failure::configuration(format!(
            "[registries] {key} must be from {} to {}",
            allowed.start(),
            allowed.end()
        ))),
        None => Ok(()),
    }
}

/// Also where no regions are formed: whoever enables them later looks at that line only.
fn check_regions(regions: &RegionRules) -> Result<(), Failure> {
    if regions.loan_hours == 0 {
        return Err(Failure::configuration(
            "[regions] loan_hours must be at least 1: without a loan agents of regions fetch \
             nothing",
        ));
    }
    match regions.settings.problem() {
        Some(problem) => Err(Failure::configuration(format!("[regions.settings] {problem}"))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
