//! `doctor`: checks whether this machine can run the agent, and says what to do where not.

use std::{net::TcpListener, path::Path, process::ExitCode, time::Duration};

use clap::Args;
use model::check::{Check, CheckVerdict};
use nix::unistd::geteuid;
use protocol::limits;
use reqwest::redirect;
use url::{Host, Url};

use super::{
    ConfigArgs, NO, installed_service::InstalledService, print_line, run, running_agent::is_running,
};
use crate::{
    clock,
    config::{Config, is_on_loopback},
    data_dir::DataDir,
    disk, error_line,
    probe::icmp_is_allowed,
};

/// Time limit of the call to the coordinator.
const CALL: Duration = Duration::from_secs(10);
/// What to do where echo requests are not permitted. A running agent does not try again.
const PERMIT_ICMP: &str = "probes use TCP instead; to permit it, write the line \
     `net.ipv4.ping_group_range = 0 2147483647` into /etc/sysctl.d/60-nearcrawl-agent.conf as \
     root, run `sysctl --system`, and restart the agent";

/// What to check.
#[derive(Debug, Args)]
pub(super) struct DoctorArgs {
    #[command(flatten)]
    config_args: ConfigArgs,
    /// Prints one JSON array instead of lines.
    #[arg(long)]
    json: bool,
}

pub(super) fn print(arguments: &DoctorArgs) -> anyhow::Result<ExitCode> {
    let (config, dir) = arguments.config_args.open()?;
    let service = InstalledService::find(Path::new("/"), &arguments.config_args.config);
    let checks = run::runtime()?.block_on(check(&config, &dir, service.as_ref()));
    if arguments.json {
        print_line(&serde_json::to_string_pretty(&checks)?);
    } else {
        for check in &checks {
            print_line(&check.to_string());
        }
    }
    let has_problem = checks.iter().any(|check| check.verdict == CheckVerdict::Problem);
    Ok(if has_problem { ExitCode::from(NO) } else { ExitCode::SUCCESS })
}

async fn check(config: &Config, dir: &Path, service: Option<&InstalledService>) -> Vec<Check> {
    let mut checks = vec![data_directory(dir, service), disk(config, dir)];
    checks.push(dns(&config.coordinator).await);
    checks.push(proxy(&config.coordinator));
    checks.extend(coordinator(config).await);
    checks.push(icmp(config, service));
    checks.extend(ports(config, dir));
    checks.extend(updates(config, dir));
    checks
}

/// Nothing is created here: a directory that belongs to the user who ran this may be closed to the
/// agent.
fn data_directory(dir: &Path, service: Option<&InstalledService>) -> Check {
    let subject = "data directory";
    let advice = || match service {
        Some(service) => service.how_to_enrol(dir, geteuid().is_root()),
        None => {
            "start it with --join-token-file FILE; the file has the admin's join token".to_owned()
        }
    };
    if matches!(dir.try_exists(), Ok(false)) {
        let finding = format!("{} does not exist yet; the agent makes it", dir.display());
        return Check::warning(subject, finding, advice());
    }
    let opened = DataDir::check(dir).and_then(|()| DataDir::at(dir).identity());
    match opened {
        Ok(Some(identity)) => {
            Check::ok(subject, format!("{}, enrolled as {}", dir.display(), identity.agent))
        }
        Ok(None) => {
            let finding = format!("{}: the agent has not enrolled yet", dir.display());
            Check::warning(subject, finding, advice())
        }
        Err(error) => Check::problem(
            subject,
            error_line::of(&error),
            "run this as the user of the agent, or see --data-dir",
        ),
    }
}

fn disk(config: &Config, dir: &Path) -> Check {
    match disk::shortage(dir, &config.limits) {
        Ok(None) => Check::ok("disk", "enough space is free"),
        Ok(Some(shortage)) => Check::problem(
            "disk",
            shortage.to_string(),
            "free some space, or change disk_mib or disk_floor_mib",
        ),
        Err(error) => Check::problem("disk", error.to_string(), "see --data-dir"),
    }
}

/// Whether updated programs can be run; nothing where the owner wants none.
fn updates(config: &Config, dir: &Path) -> Option<Check> {
    let rules = config.update?;
    let subject = "updates";
    Some(match disk::is_noexec(dir) {
        Ok(true) if rules.installs => Check::problem(
            subject,
            format!("{} is on a file system that is mounted noexec", dir.display()),
            "mount it without noexec, or set mode = \"notify\" in [update]",
        ),
        Ok(_) if rules.installs => Check::ok(subject, "releases of this key are installed"),
        Ok(_) => Check::ok(subject, "you are told of releases, and install them yourself"),
        Err(error) => Check::problem(subject, error.to_string(), "see --data-dir"),
    })
}

async fn dns(coordinator: &Url) -> Check {
    let Some(Host::Domain(name)) = coordinator.host() else {
        return Check::ok("DNS", "the coordinator's URL has an address");
    };
    match tokio::net::lookup_host((name, 443)).await {
        Ok(_) => Check::ok("DNS", format!("{name} has an address")),
        Err(error) => Check::problem(
            "DNS",
            format!("{name} cannot be resolved: {error}"),
            "check `coordinator`, the network and /etc/resolv.conf",
        ),
    }
}

/// The environment's proxies apply to calls to the coordinator, never to fetches.
fn proxy(coordinator: &Url) -> Check {
    let names = ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"];
    let set = names.iter().find(|name| std::env::var_os(name).is_some_and(|v| !v.is_empty()));
    match set {
        Some(name) if !is_on_loopback(coordinator) => Check::warning(
            "proxy",
            format!("calls to the coordinator go by the proxy in {name}"),
            "pages and probes do not: the machine needs direct access to the web",
        ),
        _ => Check::ok("proxy", "none in between"),
    }
}

/// Whether the coordinator answers, and whether the clocks agree.
async fn coordinator(config: &Config) -> Vec<Check> {
    let url = &config.coordinator;
    // As the agent calls it: it follows no redirects, and keeps the path of the URL.
    let mut builder = reqwest::Client::builder()
        .timeout(CALL)
        .redirect(redirect::Policy::none())
        .local_address(config.bind);
    if is_on_loopback(url) {
        builder = builder.no_proxy();
    }
    let mut livez = url.clone();
    livez.set_path(&format!("{}/livez", url.path().trim_end_matches('/')));
    let answer = match builder.build() {
        Ok(http) => http.get(livez).send().await,
        Err(error) => Err(error),
    };
    match answer {
        Ok(answer) if answer.status().is_success() => {
            let time = answer.headers().get("date").and_then(|date| date.to_str().ok());
            let time = time.and_then(|text| jiff::fmt::rfc2822::parse(text).ok());
            let time = time.map(|time| time.timestamp().as_millisecond());
            vec![Check::ok("coordinator", format!("{url} answers")), clock(time)]
        }
        Ok(answer) => {
            let target = answer.headers().get("location").and_then(|to| to.to_str().ok());
            let target = target.map(|to| format!(" and redirects to {to}")).unwrap_or_default();
            vec![Check::problem(
                "coordinator",
                format!("{url} answers {}{target}", answer.status()),
                "check `coordinator`; a proxy or another program may answer there, and the agent \
                 follows no redirects",
            )]
        }
        Err(error) => vec![Check::problem(
            "coordinator",
            error_line::of(&error.without_url()),
            "check `coordinator`, the network, and the firewall (port 443 outwards)",
        )],
    }
}

fn clock(coordinator_ms: Option<i64>) -> Check {
    let Some(theirs) = coordinator_ms else {
        let advice = "have it set by NTP";
        return Check::warning("clock", "the coordinator's answer has no date", advice);
    };
    let off_ms = clock::now().0.abs_diff(theirs);
    let finding = format!("{} s from the coordinator's", off_ms / 1_000);
    if off_ms > limits::CLOCK_OFF_MS {
        return Check::problem("clock", finding, "set it by NTP; else the agent cannot enrol");
    }
    Check::ok("clock", finding)
}

/// The user who runs this may have more or fewer rights than the service.
fn icmp(config: &Config, service: Option<&InstalledService>) -> Check {
    let allowed = match service {
        Some(service) => service.may_send_echoes(),
        None => icmp_is_allowed(config.bind),
    };
    match allowed {
        Ok(()) => Check::ok("ICMP", "echo requests may be sent"),
        Err(reason) => Check::warning("ICMP", format!("not permitted: {reason}"), PERMIT_ICMP),
    }
}

/// The ports at which the agent itself listens; a running agent has them.
fn ports(config: &Config, dir: &Path) -> Vec<Check> {
    // What cannot be read was reported with the data directory.
    if is_running(dir).unwrap_or(false) {
        return vec![Check::ok("ports", "the agent is running")];
    }
    let peer = config.peer.as_ref().and_then(|peer| peer.listen);
    let wanted: Vec<_> = peer.into_iter().chain(config.metrics_listen).collect();
    if wanted.is_empty() {
        return vec![Check::ok("ports", "the agent accepts no connections")];
    }
    let check = |address| match TcpListener::bind(address) {
        Ok(_) => Check::ok("ports", format!("{address} is free")),
        Err(error) => Check::problem(
            "ports",
            format!("{address} cannot be used: {error}"),
            "choose another in [peer] or [metrics]",
        ),
    };
    wanted.into_iter().map(check).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_data_directory_that_does_not_exist_yet_is_not_made() {
        let parent = tempfile::tempdir().unwrap();
        let dir = parent.path().join("data");
        let check = data_directory(&dir, None);
        assert_eq!(check.verdict, CheckVerdict::Warning);
        assert!(check.finding.contains("does not exist yet"), "{}", check.finding);
        assert!(!dir.exists());

        std::fs::create_dir(&dir).unwrap();
        let check = data_directory(&dir, None);
        assert!(check.finding.contains("has not enrolled yet"), "{}", check.finding);
    }
}
