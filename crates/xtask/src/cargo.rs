//! Calls of cargo in this workspace.

use std::process::{Command, Stdio};

use crate::repository;

/// A call of the cargo that runs this program, in the root of the repository.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.args(arguments).current_dir(repository::root());
    command
}

/// Whether `cargo NAME` exists.
pub(crate) fn has(name: &str) -> bool {
    let status = cargo(&[name, "--version"]).stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

/// Installs a cargo command from the registry when it is missing; false when that fails.
pub(crate) fn ensure(name: &str) -> bool {
    if has(name) {
        return true;
    }
    let package = format!("cargo-{name}");
    println!("installing {package}, which is missing (a few minutes, once)");
    // Built in a temporary directory, so that our target directory keeps only our own crates.
    let installed = cargo(&["install", "--locked", "--quiet", &package])
        .env_remove("CARGO_TARGET_DIR")
        .status();
    installed.is_ok_and(|status| status.success()) && has(name)
}
