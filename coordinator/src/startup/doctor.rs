//! `doctor`: checks whether this machine can run the coordinator, and says what to do where not.

use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use cluster::{Binaries, ClusterError};
use model::check::{Check, CheckVerdict};
use protocol::key::PublicKey;
use protocol::release::{Program, Refusal, Release};
use semver::Version;
use store::{Address, LEAST_MAJOR};

use crate::intake::dns::Dns;
use crate::runtime::agent_programs::{AgentProgram, AgentPrograms};
use crate::runtime::clock::{Clock as _, SystemClock};
use crate::runtime::config::Config;
use crate::runtime::failure::{Failure, chain};
use crate::runtime::free_space::{FreeSpace, MIN_FREE_FILES};
use crate::startup::cli::DoctorArgs;
use crate::startup::disk::LEAST_MIB;
use crate::startup::output::print_line;
use crate::startup::{configuration, storage};

/// Free space below which the coordinator soon refuses packages, in MiB.
const FEW_MIB: u64 = 1_024;
/// Difference to the clock of Postgres that is a problem, in milliseconds. Agents are refused where
/// clocks differ by more than [`protocol::limits::CLOCK_OFF_MS`].
const CLOCK_MS: u64 = 60_000;
/// Time limit of a lookup.
const LOOKUP: Duration = Duration::from_secs(5);
/// Name that is looked up where the configuration names none: a registry's server.
const REGISTRY_HOST: &str = "ftp.ripe.net";

/// Prints the checks; a problem makes the exit code 3.
pub async fn run(args: DoctorArgs) -> Result<(), Failure> {
    let as_json = args.json;
    let config = configuration::load(args.into(), cluster::default_data_dir)?;
    let checks = check(&config).await;
    if as_json {
        print_line(format_args!("{:#}", serde_json::json!(checks)));
    } else {
        for check in &checks {
            print_line(check);
        }
    }
    match checks.iter().filter(|check| check.verdict == CheckVerdict::Problem).count() {
        0 => Ok(()),
        count => Err(Failure::findings(count)),
    }
}

async fn check(config: &Config) -> Vec<Check> {
    let mut checks = vec![
        data_directory(&config.data_dir),
        disk(&config.data_dir),
        port(config.listen),
        postgres(config).await,
        packages(config).await,
        clock(config).await,
        dns(config).await,
        proxy(config),
        downloads(config),
    ];
    checks.extend(release(config));
    checks
}

fn data_directory(dir: &Path) -> Check {
    let subject = "data directory";
    let existing = dir.ancestors().find(|path| path.exists()).unwrap_or(Path::new("/"));
    match nix::unistd::access(existing, nix::unistd::AccessFlags::W_OK) {
        Ok(()) if existing == dir => Check::ok(subject, dir.display().to_string()),
        Ok(()) => Check::ok(subject, format!("{} will be made", dir.display())),
        Err(error) => Check::problem(
            subject,
            format!("{} cannot be written: {error}", existing.display()),
            "run this as the user of the service, or choose another as `data_dir` (--data-dir)",
        ),
    }
}

fn disk(dir: &Path) -> Check {
    let existing = dir.ancestors().find(|path| path.exists()).unwrap_or(Path::new("/"));
    match FreeSpace::at(existing) {
        Ok(FreeSpace { files: Some(files), .. }) if files < MIN_FREE_FILES => Check::problem(
            "disk",
            format!("there is room for {files} files only"),
            format!("packages need room for {MIN_FREE_FILES} files: look at `df -i`"),
        ),
        Ok(FreeSpace { bytes, .. }) => free_space(bytes >> 20),
        Err(error) => {
            let advice = "look at the file system of the data directory";
            Check::problem("disk", format!("cannot be examined: {error}"), advice)
        }
    }
}

fn free_space(free_mib: u64) -> Check {
    let finding = format!("{free_mib} MiB are free");
    if free_mib < LEAST_MIB {
        let advice = format!("free some space: the coordinator needs {LEAST_MIB} MiB to start");
        return Check::problem("disk", finding, advice);
    }
    if free_mib < FEW_MIB {
        return Check::warning("disk", finding, "free some space: packages and index grow");
    }
    Check::ok("disk", finding)
}

fn port(listen: SocketAddr) -> Check {
    match std::net::TcpListener::bind(listen) {
        Ok(_) => Check::ok("port", format!("{listen} is free")),
        Err(error) if error.kind() == std::io::ErrorKind::AddrInUse => Check::warning(
            "port",
            format!("{listen} is in use"),
            "if that is not the coordinator itself, choose another as `listen` (--listen)",
        ),
        Err(error) => Check::problem(
            "port",
            format!("{listen} cannot be used: {error}"),
            "choose an address of this machine and a port above 1023 as `listen` (--listen)",
        ),
    }
}

async fn postgres(config: &Config) -> Check {
    let subject = "Postgres";
    let Some(url) = &config.database_url else {
        return private_server(&Binaries::of_process(), &config.data_dir);
    };
    let server = match Address::url(url) {
        Ok(address) => store::server(&address).await,
        Err(error) => Err(error),
    };
    match server {
        Ok(server) => Check::ok(subject, format!("server of version {}", server.version)),
        Err(error) => Check::problem(
            subject,
            chain(&error),
            format!(
                "start that server, of version {LEAST_MAJOR} or later, or correct `database_url` \
                 (--database-url, DATABASE_URL)"
            ),
        ),
    }
}

/// Whether the programs of this machine can open the data, or make new ones.
fn private_server(binaries: &Binaries, data_dir: &Path) -> Check {
    let subject = "Postgres";
    match binaries.for_data_dir(data_dir) {
        Ok(dir) => Check::ok(subject, format!("private server with {}", dir.display())),
        Err(error @ ClusterError::OtherVersion { .. }) => Check::problem(
            subject,
            chain(&error),
            "install the version of the data; another one cannot read them",
        ),
        Err(error) => Check::problem(
            subject,
            chain(&error),
            format!(
                "install version {LEAST_MAJOR} or later (apt-get install postgresql), or name a \
                 server as `database_url`"
            ),
        ),
    }
}

async fn packages(config: &Config) -> Check {
    let subject = "packages";
    match storage::examine(config).await {
        Ok(finding) => Check::ok(subject, finding),
        Err(failure) => Check::problem(
            subject,
            failure.to_string(),
            "correct `storage` (--storage) or [s3], or start the server of the storage",
        ),
    }
}

/// Against the database's server if it is another machine's, else by the service that sets it.
async fn clock(config: &Config) -> Check {
    if let Some(url) = &config.database_url
        && let Ok(address) = Address::url(url)
        && let Ok(server) = store::server(&address).await
    {
        let off_ms = server.time.distance_ms(SystemClock.now());
        let finding = format!("{off_ms} ms from the clock of Postgres");
        if off_ms > CLOCK_MS {
            return Check::problem("clock", finding, "set both clocks by NTP");
        }
        return Check::ok("clock", finding);
    }
    match synchronised() {
        Some(true) => Check::ok("clock", "set by NTP"),
        Some(false) => Check::warning(
            "clock",
            "not set by NTP",
            "agents refuse to enrol where clocks differ by minutes: timedatectl set-ntp true",
        ),
        None => Check::warning(
            "clock",
            format!("{}; nothing here tells whether that is right", now()),
            "compare it with a good clock, and have it set by NTP",
        ),
    }
}

fn now() -> String {
    crate::http::timestamp::Timestamp(SystemClock.now()).to_iso()
}

/// Whether systemd says that NTP sets the clock; none where it does not answer.
fn synchronised() -> Option<bool> {
    let mut command = Command::new("timedatectl");
    command.args(["show", "-p", "NTPSynchronized", "--value"]);
    let output = command.output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).trim() == "yes")
}

async fn dns(config: &Config) -> Check {
    let public = config.public_url.as_ref().and_then(|url| url.domain());
    let name = public.unwrap_or(REGISTRY_HOST);
    let server = config
        .resolver
        .map_or_else(|| "the system's servers".to_owned(), |server| format!("the server {server}"));
    let advice = "check the network, /etc/resolv.conf, or `resolver` in the configuration";
    let found = match Dns::new(config.resolver) {
        Ok(dns) => dns.address(name, LOOKUP).await.map_err(|error| chain(&error)),
        Err(error) => Err(chain(&error)),
    };
    match found {
        Ok(_) => Check::ok("DNS", format!("{server} know {name}")),
        Err(error) => Check::problem("DNS", format!("by {server}: {error}"), advice),
    }
}

fn proxy(config: &Config) -> Check {
    let subject = "proxy";
    let is_private = config.listen.ip().is_loopback();
    let has_proxy = !config.trusted_proxies.is_empty();
    match &config.public_url {
        Some(url) if url.scheme() == "https" && is_private && !has_proxy => Check::warning(
            subject,
            format!("{url} leads here by a proxy that `trusted_proxies` does not name"),
            "name it, or all agents seem to be at the proxy's address",
        ),
        Some(url) => Check::ok(subject, format!("people and agents come by {url}")),
        None if is_private => Check::warning(
            subject,
            "only programs of this machine can reach the coordinator",
            "put a proxy with TLS in front, and name its URL as `public_url`",
        ),
        None => Check::warning(
            subject,
            "agents refuse plain http of other machines",
            "put a proxy with TLS in front, and name its URL as `public_url`",
        ),
    }
}

fn downloads(config: &Config) -> Check {
    let subject = "agent programs";
    match AgentPrograms::new(config.agent_downloads.clone()).list() {
        Ok(None) => Check::warning(
            subject,
            "partners can download none",
            "put nearcrawl-agent into a directory and name that as `agent_downloads`",
        ),
        Ok(Some(programs)) if programs.is_empty() => Check::problem(
            subject,
            "the directory of `agent_downloads` has none",
            "put the program nearcrawl-agent there",
        ),
        Ok(Some(programs)) => {
            let names: Vec<String> = programs.into_iter().map(|program| program.name).collect();
            Check::ok(subject, names.join(", "))
        }
        Err(error) => Check::problem(subject, error.to_string(), "make the directory readable"),
    }
}

/// Whether agents can take the release; nothing where the operator signs none.
fn release(config: &Config) -> Option<Check> {
    let key = config.release_key.as_deref()?;
    let subject = "release";
    let advice = "sign the programs in `agent_downloads` with `nearcrawl-coordinator release sign`";
    let programs = AgentPrograms::new(config.agent_downloads.clone());
    let read = programs.release().and_then(|file| Ok((file, programs.list()?)));
    Some(match read {
        Err(error) => Check::problem(subject, error.to_string(), "make the directory readable"),
        Ok((None, _)) => Check::warning(subject, "agents are offered none", advice),
        Ok((Some(file), offered)) => {
            match offered_release(&file, key, &offered.unwrap_or_default()) {
                Ok(version) => Check::ok(subject, format!("version {version}")),
                Err(finding) => Check::problem(subject, finding, advice),
            }
        }
    })
}

/// The version of a release that agents take; an error if they do not.
fn offered_release(
    file: &[u8],
    key: &PublicKey,
    offered: &[AgentProgram],
) -> Result<Version, String> {
    let release = Release::verify(file, key).map_err(|refusal| match refusal {
        Refusal::Signature(_) => "it is not signed by the key in `release_key`".to_owned(),
        other => other.to_string(),
    })?;
    release.check_time(SystemClock.now(), None).map_err(|refusal| refusal.to_string())?;
    let is_offered = |program: &Program| {
        offered.iter().any(|it| it.name == program.name && it.sha256 == program.sha256)
    };
    match release.programs.iter().find(|program| !is_offered(program)) {
        Some(program) => Err(format!("{} is not the file that was signed", program.name)),
        None => Ok(release.version),
    }
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt as _;

    use protocol::key::ReleaseKey;

    use super::*;

    #[test]
    fn a_disk_that_is_too_full_for_a_start_is_a_problem() {
        assert_eq!(free_space(LEAST_MIB - 1).verdict, CheckVerdict::Problem);
        assert_eq!(free_space(LEAST_MIB).verdict, CheckVerdict::Warning);
        assert_eq!(free_space(FEW_MIB).verdict, CheckVerdict::Ok);
    }

    #[test]
    fn a_release_that_agents_refuse_is_a_problem() {
        let key = ReleaseKey::from_seed([1; 32]);
        let public = key.public();
        let program = Program {
            name: "nearcrawl-agent".into(),
            target: "x86_64".into(),
            bytes: 3,
            sha256: "ab".into(),
        };
        let file = |expires_in_ms: i64| {
            let now = SystemClock.now();
            let release = Release {
                format: protocol::release::FORMAT,
                version: Version::new(0, 2, 0),
                signed_at: now,
                expires_at: now.plus_ms(expires_in_ms),
                share_percent: 100,
                programs: vec![program.clone()],
            };
            release.sign(&key).unwrap()
        };
        let Program { name, bytes, sha256, .. } = program.clone();
        let offered = [AgentProgram { name, bytes, sha256 }];
        let check = |file: &str, key: &PublicKey, offered: &[AgentProgram]| {
            offered_release(file.as_bytes(), key, offered).unwrap_err()
        };
        let valid = file(60_000);
        let version = offered_release(valid.as_bytes(), &public, &offered);
        assert_eq!(version, Ok(Version::new(0, 2, 0)));
        assert!(check(&file(-1), &public, &offered).contains("expired"));
        assert!(check(&valid, &public, &[]).contains("is not the file that was signed"));
        let other = ReleaseKey::from_seed([2; 32]).public();
        assert!(check(&valid, &other, &offered).contains("`release_key`"));
    }

    #[test]
    fn data_that_the_programs_cannot_read_are_a_problem() {
        let dir = tempfile::tempdir().unwrap();
        let program = dir.path().join("postgres");
        std::fs::write(&program, "#!/bin/sh\necho 'postgres (PostgreSQL) 17.2'\n").unwrap();
        std::fs::set_permissions(&program, Permissions::from_mode(0o755)).unwrap();
        std::fs::write(dir.path().join("initdb"), "").unwrap();
        let binaries = Binaries { fixed: Some(dir.path().into()), ..Binaries::default() };
        let data_dir = dir.path().join("data");
        assert_eq!(private_server(&binaries, &data_dir).verdict, CheckVerdict::Ok);
        std::fs::create_dir_all(data_dir.join("postgres")).unwrap();
        std::fs::write(data_dir.join("postgres/PG_VERSION"), "15\n").unwrap();
        let check = private_server(&binaries, &data_dir);
        assert_eq!(check.verdict, CheckVerdict::Problem);
        assert!(check.finding.contains("install postgresql-15"), "{}", check.finding);
    }
}
