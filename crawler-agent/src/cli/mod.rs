//! Command line of the agent.

mod completions;
mod doctor;
mod extract;
mod guard;
mod installed_service;
mod join_token;
mod leave;
mod log;
mod man;
mod no_agent;
mod output;
mod package;
mod robots;
mod run;
mod running_agent;
mod why;

use std::{
    io::{IsTerminal as _, Read as _, Write as _},
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::Context as _;
use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::{
    config::Config,
    data_dir::{DataDirError, OWNERS_PAUSE},
    error_line,
    file::{self, FileError},
    status::StatusFile,
};
use output::print_line;
use running_agent::{is_running, running_process};

/// Crawls, at a partner organisation, what is near to it on the network.
#[derive(Debug, Parser)]
#[command(name = "nearcrawl-agent", version, after_help = AFTER_HELP, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
    /// Format of the log on standard error; NEARCRAWL_LOG sets its level.
    #[arg(long, global = true, value_enum, default_value = "text")]
    log_format: LogFormat,
}

const AFTER_HELP: &str = "\
Examples:
  nearcrawl-agent run --config agent.toml --join-token-file join-token
  nearcrawl-agent status --config agent.toml
  nearcrawl-agent log --since 2d --contains example.org
  nearcrawl-agent leave --config agent.toml

Exit codes:
  0   success
  1   another failure
  2   invalid command line
  3   the answer is no: not running, not permitted, not this agent's
  64  wrong or missing configuration, or unreadable join token
  73  the data directory cannot be used
  77  the coordinator refuses the agent
  130 ended at once by a second signal";

#[derive(Debug, Clone, Copy, ValueEnum)]
enum LogFormat {
    Text,
    Json,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Runs the agent until it is stopped. Enrols first, if it has not yet and a join token is
    /// given.
    Run(run::RunArgs),
    /// Enrols with a join token, and exits.
    Join(Join),
    /// Shows how the running agent is doing, and why it is not working if it is not.
    Status {
        #[command(flatten)]
        config_args: ConfigArgs,
        /// Prints one JSON document instead of text.
        #[arg(long)]
        json: bool,
    },
    /// Stops fetching and probing until `resume`, also across restarts. Running requests end by
    /// themselves, and results are still shipped.
    Pause(ConfigArgs),
    /// Ends a pause.
    Resume(ConfigArgs),
    /// Ends the running agent once its requests have ended and its results are shipped; nothing
    /// new starts. What the coordinator has not taken after five minutes waits on disk. The signal
    /// SIGUSR1 does the same.
    Finish(ConfigArgs),
    /// Ends the agent for good: hands its hosts over, ships what it has, has it deregistered at the
    /// coordinator, and deletes its data directory. Works beside the running agent and without it.
    Leave(leave::LeaveArgs),
    /// Shows what was fetched and probed in the owner's name.
    Log(log::Log),
    /// Shows what a host waits for: its next request, and the reason for which it is not sent now.
    /// Exits with 3 if it is not a host of this agent.
    Why(why::WhyArgs),
    /// Shows whether the owner's rules and the built-in ones permit contact with addresses and
    /// URLs. Exits with 3 if one is refused.
    Guard(guard::GuardArgs),
    /// Shows whether a robots.txt permits URLs, and which rule decides. Exits with 3 if one is
    /// disallowed.
    Robots(robots::RobotsArgs),
    /// Shows what the agent would take from a page: title, text, language, directives and links.
    Extract(extract::ExtractArgs),
    /// Shows what is in a package.
    #[command(subcommand)]
    Package(package::PackageCommand),
    /// Checks the machine: data directory, disk, DNS, proxy, coordinator, clock, ICMP, ports,
    /// updates. Exits with 3 if something does not work.
    Doctor(doctor::DoctorArgs),
    /// Prints the completions of a shell, for its directory of completions.
    Completions(completions::CompletionsArgs),
    /// Prints the manual; read it with `nearcrawl-agent man | man -l -`.
    Man,
}

/// The answer of a command that asks a question is no.
const NO: u8 = 3;

#[derive(Debug, Args)]
struct ConfigArgs {
    /// The owner's configuration.
    #[arg(long, value_name = "FILE", default_value = "/etc/nearcrawl/agent.toml")]
    config: PathBuf,
    /// Directory of key, frontier, packages and activity log; overrides the configuration, without
    /// which it is /var/lib/nearcrawl-agent for root and ~/.local/share/nearcrawl-agent for others.
    #[arg(long, value_name = "DIR", env = "NEARCRAWL_AGENT_DATA_DIR")]
    data_dir: Option<PathBuf>,
}

#[derive(Debug, Args)]
struct Join {
    #[command(flatten)]
    config_args: ConfigArgs,
    /// File with the one-time token from the coordinator's admin; `-` is standard input. Without it
    /// the variable NEARCRAWL_JOIN_TOKEN has the token. Other users can read arguments, so that no
    /// flag takes the token itself.
    #[arg(long, value_name = "FILE")]
    join_token_file: Option<PathBuf>,
}

impl ConfigArgs {
    /// Reads the configuration and determines the data directory.
    fn open(&self) -> anyhow::Result<(Config, PathBuf)> {
        let config = Config::read(&self.config)?;
        let dir = self.data_dir_or(config.data_dir.clone());
        Ok((config, dir))
    }

    /// The data directory, where the configuration names this one.
    fn data_dir_or(&self, configured: Option<PathBuf>) -> PathBuf {
        self.data_dir.clone().or(configured).unwrap_or_else(default_data_dir)
    }
}

fn default_data_dir() -> PathBuf {
    const NAME: &str = "nearcrawl-agent";
    if nix::unistd::geteuid().is_root() {
        return PathBuf::from("/var/lib").join(NAME);
    }
    let below_home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".local/share"));
    let data = std::env::var_os("XDG_DATA_HOME").map(PathBuf::from).or_else(below_home);
    data.unwrap_or_else(|| PathBuf::from(".")).join(NAME)
}

/// Runs a command. A failure is one line on standard error; the exit code tells its kind:
/// 64 configuration or join token, 73 data directory, 77 refused by the coordinator, 1 anything
/// else, also a full disk.
pub fn main(cli: Cli) -> ExitCode {
    file::create_privately();
    log_to_stderr(cli.log_format);
    let done = match cli.command {
        Command::Run(arguments) => run::run(&arguments),
        Command::Join(join) => run::join(&join),
        Command::Status { config_args, json } => status(&config_args, json),
        Command::Pause(config_args) => pause(&config_args),
        Command::Resume(config_args) => resume(&config_args),
        Command::Finish(config_args) => finish(&config_args),
        Command::Leave(arguments) => leave::leave(&arguments),
        Command::Log(log) => log::print(&log),
        Command::Why(arguments) => why::print(&arguments),
        Command::Guard(arguments) => guard::print(&arguments),
        Command::Robots(arguments) => robots::print(&arguments),
        Command::Extract(arguments) => extract::print(&arguments),
        Command::Package(command) => package::print(&command),
        Command::Doctor(arguments) => doctor::print(&arguments),
        Command::Completions(arguments) => Ok(completions::print(&arguments)),
        Command::Man => man::print(),
    };
    match done {
        Ok(code) => code,
        Err(error) => {
            print_error(&error);
            ExitCode::from(exit_code(&error))
        }
    }
}

fn print_error(error: &anyhow::Error) {
    let line = error_line::of(error.as_ref());
    drop(writeln!(std::io::stderr(), "nearcrawl-agent: {line}"));
}

/// Answers the question of a command with no, and says why. Standard output stays empty, because
/// programs read it.
fn deny(reason: &anyhow::Error) -> ExitCode {
    print_error(reason);
    ExitCode::from(NO)
}

fn log_to_stderr(format: LogFormat) {
    let filter = tracing_subscriber::EnvFilter::try_from_env("NEARCRAWL_LOG")
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("info"));
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        // No escape sequences in files and pipes.
        .with_ansi(std::io::stderr().is_terminal())
        // A reader that has gone away is no error: to report it on stderr would panic.
        .log_internal_errors(false)
        .with_writer(std::io::stderr);
    match format {
        LogFormat::Text => builder.init(),
        LogFormat::Json => builder.json().init(),
    }
}

fn exit_code(error: &anyhow::Error) -> u8 {
    use crate::{
        agent::AgentError, config::ConfigError, coordinator_client::CoordinatorError,
        frontier::FrontierError,
    };
    let agent = error.downcast_ref::<AgentError>();
    let refused = matches!(error.downcast_ref(), Some(CoordinatorError::Refused { .. }));
    let unreadable = error.is::<protocol::join_token::JoinTokenError>()
        || error.is::<join_token::TokenFileError>();
    let banned = agent.is_some_and(AgentError::is_banned);
    let unmeasured = matches!(agent, Some(AgentError::Reading(_)));
    // A page that is read long after the start may be damaged, too.
    let damaged = match agent {
        Some(AgentError::Frontier(FrontierError::Damaged { .. })) => true,
        Some(AgentError::Peers(error)) => error.is_damage(),
        _ => false,
    };
    let unusable = damaged || matches!(agent, Some(AgentError::Usage(_)));
    // The disk may have room again at the next start.
    if is_disk_full(error) {
        return 1;
    }
    if error.is::<ConfigError>() || unreadable || unmeasured {
        64
    } else if error.is::<DataDirError>() || unusable {
        73
    } else if refused || banned {
        77
    } else {
        1
    }
}

/// Whether something failed because the disk, or the owner's part of it, is full.
fn is_disk_full(error: &anyhow::Error) -> bool {
    use std::io::{Error, ErrorKind};
    error.chain().any(|cause| {
        // The store's error has no source.
        let stored = cause.downcast_ref::<Box<redb::Error>>().map(Box::as_ref);
        let io = match stored {
            Some(redb::Error::Io(error)) => Some(error),
            _ => cause.downcast_ref::<Error>(),
        };
        let kind = io.map(Error::kind);
        matches!(kind, Some(ErrorKind::StorageFull | ErrorKind::QuotaExceeded))
    })
}

/// Reads a file; `-` is standard input.
fn read_input(path: &Path) -> anyhow::Result<Vec<u8>> {
    if path != Path::new("-") {
        return Ok(std::fs::read(path).map_err(FileError::at(path, "read"))?);
    }
    let mut bytes = Vec::new();
    std::io::stdin().read_to_end(&mut bytes).context("standard input cannot be read")?;
    Ok(bytes)
}

fn status(config_args: &ConfigArgs, json: bool) -> anyhow::Result<ExitCode> {
    let (_, dir) = config_args.open()?;
    let Some(status) = StatusFile::read(&dir)? else {
        return Ok(deny(&config_args.no_agent(&dir)));
    };
    let running = is_running(&dir)?;
    if json {
        print_line(&serde_json::to_string_pretty(&status)?);
    } else {
        print_line(&status.describe(jiff::Timestamp::now(), running));
    }
    Ok(if running { ExitCode::SUCCESS } else { ExitCode::from(NO) })
}

fn pause(config_args: &ConfigArgs) -> anyhow::Result<ExitCode> {
    let is_new = OWNERS_PAUSE.set(&agents_dir(config_args)?)?;
    print_line(if is_new { "paused" } else { "it was paused already" });
    Ok(ExitCode::SUCCESS)
}

fn resume(config_args: &ConfigArgs) -> anyhow::Result<ExitCode> {
    let was_paused = OWNERS_PAUSE.clear(&agents_dir(config_args)?)?;
    print_line(if was_paused { "resumed" } else { "it was not paused" });
    Ok(ExitCode::SUCCESS)
}

fn finish(config_args: &ConfigArgs) -> anyhow::Result<ExitCode> {
    let (_, dir) = config_args.open()?;
    let Some(status) = StatusFile::read(&dir)? else {
        return Ok(deny(&config_args.no_agent(&dir)));
    };
    let Some(pid) = running_process(&dir, &status)? else {
        print_line("it is not running");
        return Ok(ExitCode::from(NO));
    };
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGUSR1)
        .with_context(|| format!("process {pid} cannot be signalled"))?;
    print_line("finishing");
    Ok(ExitCode::SUCCESS)
}

/// The data directory of an agent that has run.
fn agents_dir(config_args: &ConfigArgs) -> anyhow::Result<PathBuf> {
    let (_, dir) = config_args.open()?;
    if StatusFile::exists(&dir)? { Ok(dir) } else { Err(config_args.no_agent(&dir)) }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::{agent::AgentError, frontier::FrontierError};

    /// Otherwise the service asks again every five seconds, for ever.
    #[test]
    fn the_unit_stays_stopped_where_a_restart_cannot_help() {
        let unit = include_str!("../../../deploy/systemd/nearcrawl-agent.service");
        let listed = unit.lines().find_map(|line| line.strip_prefix("RestartPreventExitStatus="));
        let listed: Vec<&str> = listed.unwrap().split(' ').collect();
        let no_file = Config::read(Path::new("/nonexistent/agent.toml")).unwrap_err();
        let key = DataDirError::KeyContent("key".into());
        let in_use = DataDirError::Frontier(FrontierError::InUse("hosts.redb".into()));
        let damaged = FrontierError::Damaged { path: "hosts.redb".into(), source: None };
        let damaged = AgentError::Peers(damaged.into());
        let revoked = AgentError::Revoked;
        let errors = [no_file.into(), key.into(), in_use.into(), damaged.into(), revoked.into()];
        for error in errors {
            let code = exit_code(&error).to_string();
            assert!(listed.contains(&code.as_str()), "{error}: {code} is not in {listed:?}");
        }
    }

    #[test]
    fn without_an_agent_the_directory_is_named_and_the_flag_for_another() {
        let config_args = ConfigArgs { config: "agent.toml".into(), data_dir: None };
        let error = config_args.no_agent(Path::new("/somewhere")).to_string();
        assert!(error.contains("/somewhere") && error.contains("--data-dir"), "{error}");
    }

    /// A power failure may leave it so, and an agent that is stopped does not replace it.
    #[test]
    fn an_agent_with_a_broken_status_file_can_be_paused() {
        let dir = tempfile::tempdir().unwrap();
        let config = dir.path().join("agent.toml");
        let keys = "coordinator = \"https://c.example\"\ncontact = \"https://o.example/bot\"\n";
        std::fs::write(&config, keys).unwrap();
        let config_args = ConfigArgs { config, data_dir: Some(dir.path().to_owned()) };
        pause(&config_args).unwrap_err();
        std::fs::write(dir.path().join("status.json"), "{").unwrap();
        pause(&config_args).unwrap();
        assert!(OWNERS_PAUSE.is_set(dir.path()));
        resume(&config_args).unwrap();
        assert!(!OWNERS_PAUSE.is_set(dir.path()));
    }

    #[test]
    fn the_unit_starts_again_after_a_full_disk() {
        let full = || std::io::Error::from(std::io::ErrorKind::StorageFull);
        let log = FrontierError::Log { path: "log-1".into(), source: full() };
        let store = FrontierError::Store(Box::new(redb::Error::Io(full())));
        let failing = std::io::Error::other("the disk fails");
        let other = FrontierError::Store(Box::new(redb::Error::Io(failing)));
        for (error, code) in [(log, 1), (store, 1), (other, 73)] {
            assert_eq!(exit_code(&DataDirError::Frontier(error).into()), code);
        }
    }
}
