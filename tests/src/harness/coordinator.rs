//! A coordinator under test.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::{HarnessError, Process, Program, until};
use crate::net::Namespace;

/// How long the first start may take: a database is made.
const START: Duration = Duration::from_secs(90);
/// A coordinator promises to end within ten seconds; its database may need some more.
const STOP: Duration = Duration::from_secs(40);

/// How a coordinator is started.
#[derive(Debug, Clone)]
pub struct CoordinatorPlan {
    /// Its data, kept over restarts.
    pub data_dir: PathBuf,
    /// Where to listen; port 0 for any.
    pub listen: SocketAddr,
    /// Its configuration file, if any.
    pub config: Option<PathBuf>,
    /// A database other than its private one.
    pub database_url: Option<String>,
    /// Name server for crawled hosts.
    pub resolver: Option<SocketAddr>,
    /// Password of the first admin.
    pub admin_password: String,
    /// Further variables of its environment.
    pub environment: Vec<(String, String)>,
    /// Where it runs.
    pub namespace: Option<Namespace>,
}

impl CoordinatorPlan {
    /// A coordinator on a free port of the loopback, with a private database.
    pub fn new(data_dir: PathBuf) -> Self {
        Self {
            data_dir,
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            config: None,
            database_url: None,
            resolver: None,
            admin_password: "a long enough password".to_owned(),
            environment: Vec::new(),
            namespace: None,
        }
    }

    fn command(&self) -> Result<Command, HarnessError> {
        let mut command = Program::Coordinator.command()?;
        command.arg("serve").arg("--data-dir").arg(&self.data_dir);
        command.args(["--listen", &self.listen.to_string()]);
        // Browsers reach it through a port forward on loopback, wherever it listens.
        command.args(["--public-url", "http://127.0.0.1"]);
        command.env("NEARCRAWL_ADMIN_PASSWORD", &self.admin_password);
        command.envs(self.environment.iter().cloned());
        if let Some(config) = &self.config {
            command.arg("--config").arg(config);
        }
        if let Some(url) = &self.database_url {
            command.env("DATABASE_URL", url);
        }
        if let Some(resolver) = self.resolver {
            command.args(["--resolver", &resolver.to_string()]);
        }
        if let Some(namespace) = &self.namespace {
            namespace.enter_command(&mut command);
        }
        Ok(command)
    }
}

/// A running coordinator, or one that was killed and can be started again.
#[derive(Debug)]
pub struct Coordinator {
    plan: CoordinatorPlan,
    process: Process,
    listening: SocketAddr,
}

impl Coordinator {
    /// Starts it and waits until it listens.
    pub async fn start(plan: CoordinatorPlan) -> Result<Self, HarnessError> {
        std::fs::create_dir_all(&plan.data_dir).map_err(HarnessError::prepare(&plan.data_dir))?;
        let log = plan.data_dir.with_extension("log");
        let mut process = Process::start("the coordinator", plan.command()?, &log)?;
        let listening = process.line("a listening coordinator", START, listening).await?;
        Ok(Self { plan, process, listening })
    }

    /// Where it listens, seen from its namespace.
    pub fn address(&self) -> SocketAddr {
        self.listening
    }

    pub fn process(&mut self) -> &mut Process {
        &mut self.process
    }

    /// Kills its private database with SIGKILL, as soon as that runs.
    pub async fn kill_postgres(&self) -> Result<(), HarnessError> {
        let file = self.plan.data_dir.join("postgres/postmaster.pid");
        let strike = || std::future::ready(kill_postmaster(&file));
        until("a running Postgres", START, strike).await
    }

    pub fn kill(&mut self) {
        self.process.kill();
    }

    /// Starts it again after a kill or a stop, at the same address and with the same data.
    pub async fn restart(&mut self) -> Result<(), HarnessError> {
        self.plan.listen = self.listening;
        *self = Self::start(self.plan.clone()).await?;
        Ok(())
    }

    /// Asks it to end and waits.
    pub async fn stop(&mut self) -> Result<ExitStatus, HarnessError> {
        self.process.stop(STOP).await
    }
}

fn listening(line: &str) -> Option<SocketAddr> {
    line.strip_prefix("listening on http://")?.trim().parse().ok()
}

/// Kills the process that a file names in its first line.
fn kill_postmaster(file: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(file).map_err(|error| error.to_string())?;
    let number = text.lines().next().and_then(|line| line.trim().parse().ok());
    let pid = Pid::from_raw(number.ok_or("the file names no process")?);
    kill(pid, Signal::SIGKILL).map_err(|error| error.to_string())
}
