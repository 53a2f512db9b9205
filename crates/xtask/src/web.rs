//! The pages: built when Node is here; without it the binaries carry a stub page.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, bail};

use crate::machine::has_program;
use crate::repository;

/// The oldest Node that the tools of the pages run on.
const NODE: (u32, u32) = (20, 19);

/// Why the pages cannot be built here; `None` when they can.
pub(crate) fn obstacle() -> Option<String> {
    if !has_program("node") || !has_program("npm") {
        return Some("there is no Node on this machine".to_owned());
    }
    let output = Command::new("node").arg("--version").output().ok()?;
    let said = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    match version(&said) {
        Some(found) if found >= NODE => None,
        _ => Some(format!("Node is {said}, and {}.{} or newer is needed", NODE.0, NODE.1)),
    }
}

fn version(said: &str) -> Option<(u32, u32)> {
    let mut numbers = said.strip_prefix('v')?.split('.');
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

/// A script of the package in `folder`, e.g. `build`.
pub(crate) fn script(folder: &str, name: &str) -> Command {
    let mut command = npm(folder);
    command.args(["run", "--silent", name]);
    command
}

fn npm(folder: &str) -> Command {
    let mut command = Command::new("npm");
    command.current_dir(repository::root().join(folder));
    command
}

/// Installs the packages of `folder` exactly as its lock file says, unless that was done already.
/// Their own scripts do not run.
pub(crate) fn install(folder: &str) -> anyhow::Result<()> {
    if is_installed(&repository::root().join(folder)) {
        return Ok(());
    }
    let mut command = npm(folder);
    command.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]);
    run(command, "npm ci")
}

/// npm writes its own copy of the lock file when it has installed everything.
fn is_installed(folder: &Path) -> bool {
    let changed =
        |path: &str| std::fs::metadata(folder.join(path)).and_then(|meta| meta.modified());
    match (changed("package-lock.json"), changed("node_modules/.package-lock.json")) {
        (Ok(wanted), Ok(installed)) => installed >= wanted,
        _ => false,
    }
}

/// Builds the pages into `web-ui/dist`.
pub(crate) fn build() -> anyhow::Result<()> {
    install("web-ui")?;
    run(script("web-ui", "build"), "npm run build")
}

fn run(mut command: Command, name: &str) -> anyhow::Result<()> {
    let status = command.status().with_context(|| format!("cannot run {name}"))?;
    if !status.success() {
        bail!("{name} ended with {status}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_version_is_compared_by_number() {
        assert_eq!(version("v20.20.2"), Some((20, 20)));
        assert!(version("v9.0.0").unwrap() < NODE);
        assert!(version("v22.1.0").unwrap() > NODE);
        assert_eq!(version("nonsense"), None);
    }
}
