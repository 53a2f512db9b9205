//! Creation of a new cluster by `initdb`, complete or not at all.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::layout::{Layout, private_dir};
use crate::server_user::ServerUser;
use crate::{ClusterError, Durability, USER};

/// Creates the cluster in a temporary directory and renames it, so that an interrupted `initdb`
/// leaves nothing that looks complete. The caller holds the lock.
pub(crate) fn initdb(
    layout: &Layout,
    bin: &Path,
    user: &ServerUser,
    durability: Durability,
) -> Result<(), ClusterError> {
    let unfinished = layout.unfinished();
    if unfinished.exists() {
        std::fs::remove_dir_all(&unfinished).map_err(ClusterError::prepare(&unfinished))?;
    }
    private_dir(&unfinished, user)?;
    run(&unfinished, bin, user, durability)?;
    let data = layout.data();
    std::fs::rename(&unfinished, &data).map_err(ClusterError::prepare(&data))?;
    sync_parent(&data)
}

fn run(
    dir: &Path,
    bin: &Path,
    user: &ServerUser,
    durability: Durability,
) -> Result<(), ClusterError> {
    let program = bin.join("initdb");
    let mut command = clean_command(&program);
    command.arg("-D").arg(dir).args(["-U", USER, "--auth-local=trust", "--auth-host=reject"]);
    command.args(["-E", "UTF8", "--locale=C", "--data-checksums", "--no-instructions"]);
    if durability == Durability::Throwaway {
        command.arg("--no-sync");
    }
    user.apply_to(&mut command);
    let output = command.output().map_err(|source| ClusterError::Spawn { program, source })?;
    if output.status.success() {
        return Ok(());
    }
    Err(ClusterError::Initdb { path: dir.to_path_buf(), output: reason(&output.stderr) })
}

/// A command without the environment of this process: `PG*` variables would redirect it, others may
/// contain secrets.
pub(crate) fn clean_command(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.env_clear().env("LC_ALL", "C").env("TZ", "UTC").current_dir("/").stdin(Stdio::null());
    if let Some(path) = std::env::var_os("PATH") {
        command.env("PATH", path);
    }
    command
}

/// Marks of the last lines of a program's output that do not contain the reason: the statement that
/// failed, and the cleaning up.
const NOT_THE_REASON: [&str; 3] = ["STATEMENT:", "child process exited", "initdb: removing"];

/// The reason for a failure in the output of a program of Postgres: its last three lines, joined.
pub(crate) fn reason(output: &[u8]) -> String {
    let text = String::from_utf8_lossy(output);
    let is_reason =
        |line: &&str| !line.is_empty() && !NOT_THE_REASON.iter().any(|mark| line.contains(mark));
    let lines: Vec<&str> = text.lines().map(str::trim).filter(is_reason).collect();
    lines[lines.len().saturating_sub(3)..].join("; ")
}

/// Makes the renaming survive a power cut.
fn sync_parent(path: &Path) -> Result<(), ClusterError> {
    let parent = path.parent().unwrap_or(path);
    File::open(parent).and_then(|dir| dir.sync_all()).map_err(ClusterError::prepare(parent))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_and_cleaning_up_are_not_the_reason() {
        let output = b"\
            2026-11-20 19:24:42 UTC FATAL:  could not write to file: No space left on device\n\
            2026-11-20 19:24:42 UTC STATEMENT:  CREATE DATABASE template0;\n\n\
            child process exited with exit code 1\ninitdb: removing contents of data directory\n";
        let expected =
            "2026-11-20 19:24:42 UTC FATAL:  could not write to file: No space left on device";
        assert_eq!(reason(output), expected);
    }

    #[test]
    fn the_reason_is_the_last_three_lines() {
        assert_eq!(reason(b"one\n\ntwo\nthree\nfour\n"), "two; three; four");
        assert_eq!(reason(b""), "");
    }
}
