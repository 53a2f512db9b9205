//! `leave`: ends the agent for good.

use std::{
    io::{BufRead as _, IsTerminal as _, Write as _},
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use anyhow::bail;
use clap::Args;

use super::{ConfigArgs, Join, print_line, run};
use crate::{
    data_dir::{DataDir, control_socket, leave_request, removal},
    status::StatusFile,
};

/// Where a package or a person installs the service.
const UNIT: &str = "/etc/systemd/system/nearcrawl-agent.service";
/// Where the service reads its join token.
const TOKEN: &str = "/etc/nearcrawl/agent.env";
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
    // Who may not read the status may do nothing of the following either.
    StatusFile::read_if_sound(&dir)?;
    if has_left(&dir) {
        print_line("the agent has left");
        print_rest(&arguments.config_args.config);
        return Ok(ExitCode::SUCCESS);
    }
    if !DataDir::has_agent(&dir) {
        return Err(arguments.config_args.no_agent(&dir));
    }
    if !arguments.yes && !is_meant(&dir)? {
        print_line("nothing was done");
        return Ok(ExitCode::SUCCESS);
    }
    if arguments.without_coordinator {
        if is_running(&dir)? {
            bail!("the agent is running; stop it first");
        }
    } else if has_enrolled(&dir)? {
        leave_request::make(&dir)?;
        hand_over(arguments, &dir)?;
    }
    if removal::remove(&dir)? {
        print_line(&format!("{} is deleted", dir.display()));
    } else {
        print_line(&format!("the agent's files in {} are deleted", dir.display()));
    }
    print_rest(&arguments.config_args.config);
    Ok(ExitCode::SUCCESS)
}

/// Whether the service has left by itself, after this was interrupted: it cannot delete its
/// directory.
fn has_left(dir: &Path) -> bool {
    let is_empty = dir.read_dir().is_ok_and(|mut entries| entries.next().is_none());
    is_empty && Path::new(UNIT).exists()
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

fn is_running(dir: &Path) -> anyhow::Result<bool> {
    let status = StatusFile::read_if_sound(dir)?;
    let is_fresh = status.is_some_and(|status| status.is_running(jiff::Timestamp::now()));
    // On a full disk an agent cannot renew its status.
    Ok(is_fresh || control_socket::is_open(dir))
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
        run::run(&run::RunArgs { join, rebuild: false })?;
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

/// What the agent does not delete, because it did not make it.
fn print_rest(config: &Path) {
    print_line("To delete the rest:");
    let is_service = Path::new(UNIT).exists();
    if is_service {
        print_line("  systemctl disable --now nearcrawl-agent");
        print_line("  systemctl clean --what=state nearcrawl-agent");
        print_line(&format!("  rm -f {UNIT} {TOKEN} && systemctl daemon-reload"));
    }
    let program = std::env::current_exe().unwrap_or_else(|_| "nearcrawl-agent".into());
    match own_directory(config, &program) {
        Some(dir) => print_line(&format!("  rm -r {}", dir.display())),
        None => print_line(&format!("  rm {} {}", config.display(), program.display())),
    }
    if is_service {
        print_line("  rmdir --ignore-fail-on-non-empty /etc/nearcrawl");
    }
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
