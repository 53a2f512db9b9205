//! Calls of cargo in this workspace.

use std::process::{Command, Stdio};

use crate::repository;

/// The cargo that runs us.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.args(arguments).current_dir(repository::root());
    command
}

/// Whether `cargo name` exists.
pub(crate) fn has(name: &str) -> bool {
    let asked = cargo(&[name, "--version"]).stdout(Stdio::null()).stderr(Stdio::null()).status();
    asked.is_ok_and(|status| status.success())
}

/// Installs a cargo command from the registry when it is missing; false when that cannot be done
/// here.
pub(crate) fn ensure(name: &str) -> bool {
    if has(name) {
        return true;
    }
    let package = format!("cargo-{name}");
    println!("installing {package}, which is missing (a few minutes, once)");
    // Into cargo's own temporary folder: our target folder stays ours.
    let installed = cargo(&["install", "--locked", "--quiet", &package])
        .env_remove("CARGO_TARGET_DIR")
        .status();
    installed.is_ok_and(|status| status.success()) && has(name)
}
