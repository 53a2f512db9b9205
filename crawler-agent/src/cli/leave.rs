//! `leave`: ends the agent for good.

use std::{
    io::{BufRead as _, IsTerminal as _, Write as _},
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use anyhow::{Context as _, bail};
use clap::Args;

use super::{
    ConfigArgs, Join,
    installed_service::{InstalledService, how_to_forbid_echoes},
    print_line, run,
    running_agent::is_running,
};
use crate::{
    data_dir::{DataDir, LEAVE_REQUEST, removal},
    status::StatusFile,
};

/// Time between two looks at the running agent.
const LOOK: Duration = Duration::from_millis(300);

/// What to end.
#[derive(Debug, Args)]
pub(super) struct LeaveArgs {
    #[command(flatten)]
    config_args: ConfigArgs,
    /// Does not ask whether this is meant.
    #[arg(long)]
    yes: bool,
    /// Deletes the data directory although the coordinator cannot be reached. Its operator has to
    /// revoke the agent then.
    #[arg(long)]
    without_coordinator: bool,
}

pub(super) fn leave(arguments: &LeaveArgs) -> anyhow::Result<ExitCode> {
    let (_, dir) = arguments.config_args.open()?;
    // A user who cannot read the status has no right to any of the following steps.
    StatusFile::read_if_sound(&dir)?;
    let config = &arguments.config_args.config;
    let service = InstalledService::find_with_data(Path::new("/"), config, &dir);
    if has_left(&dir, service.as_ref()) {
        print_line("the agent has left");
        print_rest(config, service.as_ref());
        return Ok(ExitCode::SUCCESS);
    }
    if !DataDir::has_agent(&dir) {
        return Err(arguments.config_args.no_agent(&dir));
    }
    if !arguments.yes && !is_meant(&dir)? {
        print_line("nothing was done");
        return Ok(ExitCode::SUCCESS);
    }
    if !arguments.without_coordinator && has_enrolled(&dir)? {
        LEAVE_REQUEST.set(&dir)?;
        hand_over(arguments, &dir)?;
    }
    // Also an agent that waits for its enrolment, which has no status yet.
    DataDir::at(&dir).check_unused().context("the agent is running; stop it first")?;
    if removal::remove(&dir)? {
        print_line(&format!("{} is deleted", dir.display()));
    } else {
        print_line(&format!("the agent's files in {} are deleted", dir.display()));
    }
    print_rest(config, service.as_ref());
    Ok(ExitCode::SUCCESS)
}

/// Whether the service has left by itself, after this was interrupted: it cannot delete its
/// directory.
fn has_left(dir: &Path, service: Option<&InstalledService>) -> bool {
    let is_empty = dir.read_dir().is_ok_and(|mut entries| entries.next().is_none());
    is_empty && service.is_some()
}

fn is_meant(dir: &Path) -> anyhow::Result<bool> {
    if !std::io::stdin().is_terminal() {
        bail!("leaving cannot be undone; give --yes");
    }
    print_line(&format!(
        "This ends the agent for good and deletes its key, queue and log in {}.",
        dir.display()
    ));
    let mut out = std::io::stdout().lock();
    write!(out, "Type yes to leave: ")?;
    out.flush()?;
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line)?;
    Ok(line.trim() == "yes")
}

fn has_enrolled(dir: &Path) -> anyhow::Result<bool> {
    Ok(DataDir::at(dir).identity()?.is_some())
}

/// Lets the running agent leave, or runs it for that.
fn hand_over(arguments: &LeaveArgs, dir: &Path) -> anyhow::Result<()> {
    if is_running(dir)? {
        print_line("the running agent hands its hosts over");
        run::runtime()?.block_on(until_ended(dir))?;
    } else {
        let ConfigArgs { config, data_dir } = &arguments.config_args;
        let config_args = ConfigArgs { config: config.clone(), data_dir: data_dir.clone() };
        let join = Join { config_args, join_token_file: None };
        run::run_this_program(&join)?;
    }
    if has_enrolled_still(dir) {
        bail!("the agent has not left; its log says why. Run this again to go on");
    }
    Ok(())
}

async fn until_ended(dir: &Path) -> anyhow::Result<()> {
    while is_running(dir)? {
        tokio::time::sleep(LOOK).await;
    }
    Ok(())
}

/// Whether the identity is still there; the directory may be gone.
fn has_enrolled_still(dir: &Path) -> bool {
    dir.exists() && has_enrolled(dir).unwrap_or(true)
}

/// Prints how to delete what the agent does not delete, because it did not make it.
fn print_rest(config: &Path, service: Option<&InstalledService>) {
    print_line("To delete the rest:");
    let program = std::env::current_exe().unwrap_or_else(|_| "nearcrawl-agent".into());
    let setting = how_to_forbid_echoes(Path::new("/"), service);
    for command in rest(config, &program, service).into_iter().chain(setting) {
        print_line(&format!("  {command}"));
    }
}

/// The commands that delete the rest. Those of a service are only for the agent that it runs:
/// another agent of this machine may leave while the service goes on.
fn rest(config: &Path, program: &Path, service: Option<&InstalledService>) -> Vec<String> {
    let mut commands = service.map(InstalledService::how_to_delete).unwrap_or_default();
    commands.push(match own_directory(config, program) {
        Some(dir) => format!("rm -r {}", dir.display()),
        None => format!("rm {} {}", config.display(), program.display()),
    });
    if service.is_some() {
        commands.push("rmdir --ignore-fail-on-non-empty /etc/nearcrawl".to_owned());
    }
    commands
}

/// What the partner's guide puts beside program and configuration.
const BESIDE: [&str; 2] = ["join-token", "agent.log"];

/// The directory of program and configuration if nothing else is in it but what the guide puts
/// there: the commands of an invitation make such a directory.
fn own_directory(config: &Path, program: &Path) -> Option<PathBuf> {
    let config = config.canonicalize().ok()?;
    let program = program.canonicalize().ok()?;
    let dir = program.parent()?;
    let is_ours = |path: &Path| {
        path == config || path == program || BESIDE.iter().any(|name| path.ends_with(name))
    };
    let entries: Vec<_> = dir.read_dir().ok()?.collect::<Result<_, _>>().ok()?;
    let is_own = config.parent() == Some(dir) && entries.iter().all(|entry| is_ours(&entry.path()));
    is_own.then(|| dir.to_owned())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::*;

    #[test]
    fn a_status_that_cannot_be_parsed_does_not_keep_the_agent() {
        let parent = TempDir::new().unwrap();
        let dir = parent.path().join("data");
        let config = parent.path().join("agent.toml");
        let keys = "coordinator = \"https://c.example\"\ncontact = \"https://o.example/bot\"\n";
        fs::write(&config, keys).unwrap();
        fs::create_dir(&dir).unwrap();
        fs::write(dir.join("status.json"), "{").unwrap();
        fs::write(dir.join("agent.key"), "").unwrap();
        let config_args = ConfigArgs { config, data_dir: Some(dir.clone()) };
        leave(&LeaveArgs { config_args, yes: true, without_coordinator: true }).unwrap();
        assert!(!dir.exists());
    }

    #[test]
    fn an_agent_that_waits_for_its_enrolment_keeps_its_data() {
        let parent = TempDir::new().unwrap();
        let dir = parent.path().join("data");
        let config = parent.path().join("agent.toml");
        let keys = "coordinator = \"https://c.example\"\ncontact = \"https://o.example/bot\"\n";
        fs::write(&config, keys).unwrap();
        let data_dir = DataDir::open(&dir).unwrap();
        data_dir.key().unwrap();
        let frontier = data_dir.frontier().unwrap();
        let leave = |without_coordinator| {
            let config_args = ConfigArgs { config: config.clone(), data_dir: Some(dir.clone()) };
            leave(&LeaveArgs { config_args, yes: true, without_coordinator })
        };
        for without_coordinator in [false, true] {
            let refused = leave(without_coordinator).unwrap_err();
            assert!(refused.to_string().contains("stop it first"), "{refused}");
            assert!(data_dir.key().is_ok() && DataDir::has_agent(&dir));
        }
        drop(frontier);
        leave(false).unwrap();
        assert!(!dir.exists());
    }

    #[test]
    fn what_no_agent_has_made_is_not_deleted() {
        let parent = TempDir::new().unwrap();
        let config = parent.path().join("agent.toml");
        let keys = "coordinator = \"https://c.example\"\ncontact = \"https://o.example/bot\"\n";
        fs::write(&config, keys).unwrap();
        let dir = parent.path().join("app");
        fs::create_dir_all(dir.join("packages")).unwrap();
        let config_args = ConfigArgs { config, data_dir: Some(dir.clone()) };
        let left = leave(&LeaveArgs { config_args, yes: true, without_coordinator: true });
        assert!(left.unwrap_err().to_string().contains("no agent has run in"));
        assert!(dir.join("packages").exists());
    }

    /// The commands for the service would delete its agent's key and queue.
    #[test]
    fn an_agent_beside_the_service_leaves_the_service_alone() {
        let root = TempDir::new().unwrap();
        let unit_dir = root.path().join("etc/systemd/system");
        fs::create_dir_all(&unit_dir).unwrap();
        fs::write(unit_dir.join("nearcrawl-agent.service"), "").unwrap();
        let service_config = root.path().join("etc/nearcrawl/agent.toml");
        let service_data = root.path().join("var/lib/nearcrawl-agent");
        let home = root.path().join("home");
        fs::create_dir_all(&service_data).unwrap();
        fs::create_dir(&home).unwrap();
        let own_config = home.join("agent.toml");
        let find =
            |config: &Path, dir: &Path| InstalledService::find_with_data(root.path(), config, dir);
        for (config, dir) in [(&own_config, &home), (&service_config, &home)] {
            let service = find(config, dir);
            assert!(!has_left(&service_data, service.as_ref()));
            let commands = rest(config, Path::new("/bin/agent"), service.as_ref());
            assert!(!commands.iter().any(|command| command.contains("systemctl")), "{commands:?}");
        }
        let service = find(&service_config, &service_data);
        assert!(has_left(&service_data, service.as_ref()));
        let commands = rest(&service_config, Path::new("/bin/agent"), service.as_ref());
        assert!(commands[0].contains("disable --now"), "{commands:?}");
    }

    #[test]
    fn a_directory_is_named_whole_only_if_nothing_else_is_in_it() {
        let parent = TempDir::new().unwrap();
        let dir = parent.path().canonicalize().unwrap();
        let config = dir.join("agent.toml");
        let program = dir.join("nearcrawl-agent");
        for path in [&config, &program, &dir.join("join-token")] {
            fs::write(path, "").unwrap();
        }
        assert_eq!(own_directory(&config, &program), Some(dir.clone()));
        fs::write(dir.join("letter.txt"), "mine").unwrap();
        assert_eq!(own_directory(&config, &program), None);
    }

    #[test]
    fn a_directory_of_programs_is_never_named() {
        let parent = TempDir::new().unwrap();
        let config = parent.path().join("agent.toml");
        let program = parent.path().join("bin/nearcrawl-agent");
        fs::create_dir(parent.path().join("bin")).unwrap();
        fs::write(&config, "").unwrap();
        fs::write(&program, "").unwrap();
        assert_eq!(own_directory(&config, &program), None);
    }
}
