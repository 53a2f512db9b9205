//! `run` and `join`: enrol the agent and run it.

use std::{path::Path, process::ExitCode, sync::Arc};

use anyhow::Context as _;
use clap::Args;
use protocol::{
    enrol::{EnrolRequest, EnrolResponse},
    join_token::{Fingerprint, JoinToken},
    key::AgentKey,
};
use tokio::{
    runtime::{Builder, Runtime},
    signal::unix::{SignalKind, signal},
};
use tokio_util::sync::CancellationToken;

use super::{Join, join_token, print_error, print_line};
use crate::{
    agent::{Agent, RunOutcome},
    backoff::Backoff,
    clock,
    config::{Config, LaunchRules},
    coordinator_client::{AgentApi, CoordinatorClient, CoordinatorError, new_nonce},
    data_dir::{DataDir, DataDirError, Identity, removal},
    error_line,
    file::FileError,
    frontier::{Frontier, FrontierError, Salvaged},
    update::{Origin, Programs},
};

/// Worker threads. An agent waits most of the time, and the machine has other users.
const THREADS: usize = 2;
/// Threads for calls that block on the disk.
const BLOCKING_THREADS: usize = 8;

#[derive(Debug, Args)]
pub(super) struct RunArgs {
    #[command(flatten)]
    pub(super) join: Join,
    /// Writes the frontier anew from what can be read of a damaged one, which is kept under another
    /// name, and says what is lost.
    #[arg(long)]
    pub(super) rebuild: bool,
    /// Reads arguments and configuration, and ends: whether this program can run with them.
    #[arg(long)]
    check: bool,
}

pub(super) fn run(arguments: &RunArgs) -> anyhow::Result<ExitCode> {
    let config_args = &arguments.join.config_args;
    if arguments.check {
        return config_args.open().map(|_| ExitCode::SUCCESS);
    }
    let origin = Origin::find();
    // Reads only these rules, because the configuration may have keys that only the version that is
    // to run knows.
    let rules = LaunchRules::read(&config_args.config);
    let dir = config_args.data_dir_or(rules.as_ref().and_then(|rules| rules.data_dir.clone()));
    if let Some(rules) = &rules {
        origin.launch(&rules.update, &dir);
    }
    let signals = Signals::default();
    let ended = run_to_its_end(&arguments.join, arguments.rebuild, Some(&origin), &signals);
    // After a signal during the change of programs the owner wants the agent stopped, not
    // restarted.
    let is_ended = signals.is_any() && !matches!(ended, Ok(RunOutcome::Stopped));
    if is_ended || !is_to_restart(&ended, &origin, &dir) {
        return ended.map(|_| ExitCode::SUCCESS);
    }
    Err(origin.restart()).context("the installed program cannot be started")
}

/// Whether the process goes on as another program: because of an update, or because the program on
/// trial has failed. Otherwise its exit code would keep the service stopped, which the owner does
/// not expect.
fn is_to_restart(ended: &anyhow::Result<RunOutcome>, origin: &Origin, dir: &Path) -> bool {
    if matches!(ended, Ok(RunOutcome::Restart)) {
        return true;
    }
    if !origin.is_launched {
        return false;
    }
    let Ok(mut programs) = Programs::load(dir) else { return false };
    let is_on_trial = programs.is_on_trial();
    match ended {
        Err(error) if is_on_trial && !is_in_use(error) => {
            print_error(error);
            true
        }
        // Neither a stop nor another agent that has the directory says anything of the program.
        Ok(RunOutcome::Stopped) | Err(_) if is_on_trial => {
            if let Err(error) = programs.forgive_start() {
                tracing::warn!(error = error_line::of(&error), "the start counts");
            }
            false
        }
        _ => false,
    }
}

/// Whether another process has the data directory.
fn is_in_use(error: &anyhow::Error) -> bool {
    let error = error.downcast_ref::<DataDirError>();
    matches!(error, Some(DataDirError::Frontier(FrontierError::InUse(_))))
}

/// Signals that end the agent.
#[derive(Debug, Default)]
struct Signals {
    /// Cancelled by SIGTERM or SIGINT.
    stop: CancellationToken,
    /// Cancelled by SIGUSR1, which `finish` sends.
    finish: CancellationToken,
}

impl Signals {
    fn is_any(&self) -> bool {
        self.stop.is_cancelled() || self.finish.is_cancelled()
    }
}

/// Runs the agent without updates, where it is to leave.
pub(super) fn run_this_program(join: &Join) -> anyhow::Result<()> {
    run_to_its_end(join, false, None, &Signals::default()).map(drop)
}

/// Runs the agent; without an origin it does not update itself.
fn run_to_its_end(
    join: &Join,
    rebuild: bool,
    origin: Option<&Origin>,
    signals: &Signals,
) -> anyhow::Result<RunOutcome> {
    runtime()?.block_on(async {
        let Signals { stop, finish } = signals;
        on_signals(stop)?;
        on_finish(finish)?;
        let (mut config, dir) = join.config_args.open()?;
        config.update = config.update.filter(|_| origin.is_some());
        // Before the frontier is opened, of which only a part may be left.
        if removal::is_interrupted(&dir)? {
            delete(&dir)?;
            return Ok(RunOutcome::Left);
        }
        let data_dir = DataDir::open(&dir)?;
        // Opened first, because it locks the directory: two agents must never share one.
        let frontier = if rebuild { rebuilt(&data_dir)? } else { data_dir.frontier()? };
        let key = data_dir.key()?;
        let api = AgentApi::new(&config.coordinator, config.bind)?;
        let waits = CoordinatorError::is_worth_waiting;
        let enrolling = enrolled(&data_dir, &config, &api, &key, join, waits);
        let identity = tokio::select! {
            identity = enrolling => identity?,
            () = stop.cancelled() => return Ok(RunOutcome::Stopped),
            () = finish.cancelled() => return Ok(RunOutcome::Stopped),
        };
        let client = Arc::new(CoordinatorClient::new(api, identity, Arc::clone(&key)));
        let Identity { agent: id, coordinator_key } = identity;
        let files = dir.clone();
        let is_launched = origin.is_some_and(|origin| origin.is_launched);
        let agent = Agent { config, dir, id, key, coordinator_key, client, frontier, is_launched };
        let ended = agent.run(stop.clone(), finish.clone(), print_line).await?;
        if ended == RunOutcome::Left {
            delete(&files)?;
        }
        Ok(ended)
    })
}

/// Deletes the data of an agent that has left.
fn delete(dir: &Path) -> Result<(), FileError> {
    removal::remove(dir)?;
    print_line("left: the coordinator knows this agent no more, and its data is deleted");
    Ok(())
}

/// Rebuilds the frontier and prints what was kept.
fn rebuilt(data_dir: &DataDir) -> anyhow::Result<Frontier> {
    // The store panics at damaged pages, which is expected here and caught.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let rebuilt = data_dir.rebuild_frontier();
    std::panic::set_hook(hook);
    let (frontier, rebuilt) = rebuilt?;
    print_line(&format!(
        "the frontier is rebuilt; the former file is {}",
        rebuilt.damaged.display()
    ));
    let kinds = [
        ("hosts", rebuilt.hosts),
        ("URLs in queues", rebuilt.queued),
        ("pages", rebuilt.pages),
        ("results", rebuilt.results),
    ];
    for (kind, Salvaged { kept, lost }) in kinds {
        let lost = lost.map_or_else(|| "an unknown number".to_owned(), |lost| lost.to_string());
        print_line(&format!("{kind}: {kept} kept, {lost} lost"));
    }
    if rebuilt.is_epoch_new {
        print_line(
            "packages are numbered anew; those that the coordinator has not taken are dropped",
        );
    }
    if rebuilt.is_log_lost {
        print_line(
            "changes since the last checkpoint are lost, all or the last of them; their log has \
             another name",
        );
    }
    Ok(frontier)
}

pub(super) fn join(join: &Join) -> anyhow::Result<ExitCode> {
    runtime()?.block_on(async {
        let (config, dir) = join.config_args.open()?;
        let data_dir = DataDir::open(&dir)?;
        // Locks the directory, so that `leave` does not delete it meanwhile.
        let _frontier = data_dir.frontier()?;
        let key = data_dir.key()?;
        let api = AgentApi::new(&config.coordinator, config.bind)?;
        // Whoever joins by hand sees what to do.
        let waits = CoordinatorError::is_temporary;
        enrolled(&data_dir, &config, &api, &key, join, waits).await?;
        Ok(ExitCode::SUCCESS)
    })
}

pub(super) fn runtime() -> anyhow::Result<Runtime> {
    // Fails only where a provider is installed already.
    drop(rustls::crypto::ring::default_provider().install_default());
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(THREADS).max_blocking_threads(BLOCKING_THREADS).enable_all();
    builder.build().context("the runtime cannot be started")
}

/// Cancels `stop` at the first SIGTERM or SIGINT; a second signal ends the program at once.
fn on_signals(stop: &CancellationToken) -> anyhow::Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let signalled = stop.clone();
    tokio::spawn(async move {
        for _ in 0..2 {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
            if signalled.is_cancelled() {
                std::process::exit(130);
            }
            signalled.cancel();
        }
    });
    Ok(())
}

/// Cancels `finish` at SIGUSR1.
fn on_finish(finish: &CancellationToken) -> anyhow::Result<()> {
    let mut finishing = signal(SignalKind::user_defined1())?;
    let signalled = finish.clone();
    tokio::spawn(async move {
        finishing.recv().await;
        signalled.cancel();
    });
    Ok(())
}

/// The stored identity; enrols where there is none. Tries again after errors for which the caller
/// `waits`.
async fn enrolled(
    data_dir: &DataDir,
    config: &Config,
    api: &AgentApi,
    key: &AgentKey,
    join: &Join,
    waits: fn(&CoordinatorError) -> bool,
) -> anyhow::Result<Identity> {
    if let Some(identity) = data_dir.identity()? {
        print_line(&format!("enrolled as {}", identity.agent));
        return Ok(identity);
    }
    let token: JoinToken = join_token::read(join.join_token_file.as_deref())?.parse()?;
    let mut backoff = Backoff::default();
    let response = loop {
        let text = token.as_str().to_owned();
        let profile = config.profile.clone();
        let request = EnrolRequest::new(key, text, profile, clock::now(), new_nonce());
        match api.enrol(&request, token.coordinator()).await {
            Ok(response) => break response,
            Err(error) if waits(&error) => wait_after(&error, &mut backoff).await,
            Err(error) => return Err(error.into()),
        }
    };
    let EnrolResponse { agent, coordinator_key, .. } = response;
    let identity = Identity { agent, coordinator_key };
    data_dir.set_identity(identity)?;
    print_line(&format!("enrolled as {} ({})", response.agent, response.state.as_str()));
    print_line(&format!(
        "key fingerprint {}; the admin who approves the agent sees the same",
        Fingerprint::of(&key.public())
    ));
    Ok(identity)
}

async fn wait_after(error: &CoordinatorError, backoff: &mut Backoff) {
    let pause = backoff.next(rand::random());
    tracing::warn!(error = error_line::of(error), ?pause, "enrolment failed; trying again");
    tokio::time::sleep(pause).await;
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::*;
    use crate::cli::ConfigArgs;
    use crate::data_dir::LEAVE_REQUEST;

    #[test]
    fn a_removal_that_was_interrupted_goes_on() {
        let parent = TempDir::new().unwrap();
        let dir = parent.path().join("data");
        let config = parent.path().join("agent.toml");
        let keys = "coordinator = \"https://c.example\"\ncontact = \"https://o.example/bot\"\n";
        fs::write(&config, keys).unwrap();
        // What is left of a frontier whose file is deleted cannot be opened.
        fs::create_dir_all(dir.join("frontier")).unwrap();
        fs::write(dir.join("frontier/log.1"), "x").unwrap();
        LEAVE_REQUEST.set(&dir).unwrap();
        let config_args = ConfigArgs { config, data_dir: Some(dir.clone()) };
        let join = Join { config_args, join_token_file: None };
        let ended = run_to_its_end(&join, false, None, &Signals::default()).unwrap();
        assert_eq!(ended, RunOutcome::Left);
        assert!(!dir.exists());
    }
}
