//! An empty directory becomes a cluster, or stays empty.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::identity::Identity;
use crate::layout::{Layout, private_dir};
use crate::{ClusterError, Durability, USER};

/// Makes the cluster beside its place and renames it there, so that an interrupted `initdb` leaves
/// nothing that looks finished. The caller holds the lock.
pub(crate) fn initdb(
    layout: &Layout,
    bin: &Path,
    identity: &Identity,
    durability: Durability,
) -> Result<(), ClusterError> {
    let unfinished = layout.unfinished();
    if unfinished.exists() {
        std::fs::remove_dir_all(&unfinished).map_err(ClusterError::prepare(&unfinished))?;
    }
    private_dir(&unfinished, identity)?;
    run(&unfinished, bin, identity, durability)?;
    let data = layout.data();
    std::fs::rename(&unfinished, &data).map_err(ClusterError::prepare(&data))?;
    sync_parent(&data)
}

fn run(
    dir: &Path,
    bin: &Path,
    identity: &Identity,
    durability: Durability,
) -> Result<(), ClusterError> {
    let program = bin.join("initdb");
    let mut command = clean_command(&program);
    command.arg("-D").arg(dir).args(["-U", USER, "--auth-local=trust", "--auth-host=reject"]);
    command.args(["-E", "UTF8", "--locale=C", "--data-checksums", "--no-instructions"]);
    if durability == Durability::Throwaway {
        command.arg("--no-sync");
    }
    identity.apply(&mut command);
    let output = command.output().map_err(|source| ClusterError::Spawn { program, source })?;
    if output.status.success() {
        return Ok(());
    }
    Err(ClusterError::Initdb { path: dir.to_path_buf(), said: reason(&output.stderr) })
}

/// A command that sees nothing of our environment (`PG*` would redirect it, others may hold
/// secrets).
pub(crate) fn clean_command(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.env_clear().env("LC_ALL", "C").env("TZ", "UTC").current_dir("/").stdin(Stdio::null());
    if let Some(path) = std::env::var_os("PATH") {
        command.env("PATH", path);
    }
    command
}

/// What stands beside the reason in a program's last lines: the statement that failed, and what was
/// done about it.
const BESIDE: [&str; 3] = ["STATEMENT:", "child process exited", "initdb: removing"];

/// The reason for a failure in what a program of Postgres printed: its last three lines, joined.
pub(crate) fn reason(output: &[u8]) -> String {
    let text = String::from_utf8_lossy(output);
    let says = |line: &&str| !line.is_empty() && !BESIDE.iter().any(|words| line.contains(words));
    let lines: Vec<&str> = text.lines().map(str::trim).filter(says).collect();
    lines[lines.len().saturating_sub(3)..].join("; ")
}

fn sync_parent(path: &Path) -> Result<(), ClusterError> {
    let parent = path.parent().unwrap_or(path);
    File::open(parent).and_then(|dir| dir.sync_all()).map_err(ClusterError::prepare(parent))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_is_not_what_stands_beside_it() {
        let output = b"\
            2026-11-20 19:24:42 UTC FATAL:  could not write to file: No space left on device\n\
            2026-11-20 19:24:42 UTC STATEMENT:  CREATE DATABASE template0;\n\n\
            child process exited with exit code 1\ninitdb: removing contents of data directory\n";
        let expected =
            "2026-11-20 19:24:42 UTC FATAL:  could not write to file: No space left on device";
        assert_eq!(reason(output), expected);
    }

    #[test]
    fn the_last_lines_are_nearest_to_the_end() {
        assert_eq!(reason(b"one\n\ntwo\nthree\nfour\n"), "two; three; four");
        assert_eq!(reason(b""), "");
    }
}
