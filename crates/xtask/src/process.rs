//! Programs that must succeed, and those that must not delay others.

use std::ffi::OsStr;
use std::process::{Command, Stdio};

use anyhow::{Context, ensure};

/// Runs a command to its end; `name` is what an error calls it.
pub(crate) fn succeed(command: &mut Command, name: &str) -> anyhow::Result<()> {
    let status = command.status().with_context(|| format!("cannot run {name}"))?;
    ensure!(status.success(), "{name} ended with {status}");
    Ok(())
}

/// Runs a command in the place of this program, which ends with its exit code where it fails.
pub(crate) fn pass_on(command: &mut Command) -> anyhow::Result<()> {
    let status = command.status();
    let status =
        status.with_context(|| format!("cannot run {}", command.get_program().display()))?;
    match status.code() {
        Some(0) => Ok(()),
        code => std::process::exit(code.unwrap_or(1)),
    }
}

/// A call of a program that delays no other one: with the priority "idle", or with the lowest one
/// where the system does not allow that.
pub(crate) fn idle(program: impl AsRef<OsStr>) -> Command {
    const IDLE: [&str; 2] = ["--idle", "0"];
    let is_allowed = Command::new("chrt").args(IDLE).arg("true").stderr(Stdio::null()).status();
    let (changer, priority) = if is_allowed.is_ok_and(|status| status.success()) {
        ("chrt", IDLE)
    } else {
        ("nice", ["-n", "19"])
    };
    let mut command = Command::new(changer);
    command.args(priority).arg(program);
    command
}
