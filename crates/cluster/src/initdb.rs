//! An empty directory becomes a cluster, or stays empty.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::identity::Identity;
use crate::layout::{Layout, private_dir};
use crate::{ClusterError, Durability, USER};

/// Makes the cluster beside its place and renames it there, so that an interrupted `initdb` leaves nothing that
/// looks finished. The caller holds the lock.
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

fn run(dir: &Path, bin: &Path, identity: &Identity, durability: Durability) -> Result<(), ClusterError> {
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
    Err(ClusterError::Initdb { path: dir.to_path_buf(), said: last_lines(&output.stderr) })
}

/// A command that sees nothing of our environment (`PG*` would redirect it, others may hold secrets).
pub(crate) fn clean_command(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.env_clear().env("LC_ALL", "C").env("TZ", "UTC").current_dir("/").stdin(Stdio::null());
    if let Some(path) = std::env::var_os("PATH") {
        command.env("PATH", path);
    }
    command
}

/// The last three non-empty lines, joined: the reason is always there.
pub(crate) fn last_lines(output: &[u8]) -> String {
    let text = String::from_utf8_lossy(output);
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines[lines.len().saturating_sub(3)..].join("; ")
}

fn sync_parent(path: &Path) -> Result<(), ClusterError> {
    let parent = path.parent().unwrap_or(path);
    File::open(parent).and_then(|dir| dir.sync_all()).map_err(ClusterError::prepare(parent))
}
