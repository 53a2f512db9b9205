//! The pages of the dashboard, built with Node. A coordinator that was built without them has a
//! stub page.

use std::path::Path;
use std::process::Command;

use anyhow::bail;

use crate::machine::{self, has_program};
use crate::process::{idle, succeed};
use crate::repository;

/// Folder of the pages.
const PAGES: &str = "web-ui";

/// The oldest version of Node that builds the pages.
const NODE: (u32, u32) = (20, 19);

/// Why the pages cannot be built here; `None` when they can.
pub(crate) fn obstacle() -> Option<String> {
    if !has_program("node") || !has_program("npm") {
        return Some("there is no Node on this machine".to_owned());
    }
    let output = Command::new("node").arg("--version").output().ok()?;
    let printed = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    match version(&printed) {
        Some(found) if found >= NODE => None,
        _ => Some(format!("Node is {printed}, but {}.{} or newer is needed", NODE.0, NODE.1)),
    }
}

fn version(printed: &str) -> Option<(u32, u32)> {
    let mut numbers = printed.strip_prefix('v')?.split('.');
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

/// Installs Node when it is missing, or fails with what to do.
pub(crate) fn provide_node() -> anyhow::Result<()> {
    if obstacle().is_some() {
        machine::provide(&[machine::NODE, machine::NPM])?;
    }
    match obstacle() {
        None => Ok(()),
        Some(obstacle) => {
            bail!("{obstacle}: install Node from https://nodejs.org, or pass `--without node`")
        }
    }
}

/// A check of the pages that delays no other program: the script `lint` or `test`.
pub(crate) fn check(name: &str) -> Command {
    script(idle("npm"), name)
}

/// A call of npm that runs a script of the pages.
fn script(mut npm: Command, name: &str) -> Command {
    npm.current_dir(repository::root().join(PAGES)).args(["run", "--silent", name]);
    npm
}

fn npm(folder: &str) -> Command {
    let mut command = Command::new("npm");
    command.current_dir(repository::root().join(folder));
    command
}

/// Installs the packages of the lock file in `folder`, unless they are installed. Their own scripts
/// do not run, because they are code of strangers.
pub(crate) fn install(folder: &str) -> anyhow::Result<()> {
    if is_installed(&repository::root().join(folder)) {
        return Ok(());
    }
    let mut command = npm(folder);
    command.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]);
    succeed(&mut command, "npm ci")
}

/// npm writes its own copy of the lock file after it has installed everything.
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
    install(PAGES)?;
    succeed(&mut script(Command::new("npm"), "build"), "npm run build")
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
