//! Calls of cargo in this workspace.

use std::ffi::OsString;
use std::process::{Command, Stdio};

use crate::process::idle;
use crate::repository;

/// Prefixes of the variables by which cargo describes the package that it runs.
const OF_A_PACKAGE: [&str; 2] = ["CARGO_PKG_", "CARGO_MANIFEST_"];

/// A call of the cargo that runs this program, in the root of the repository.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    in_workspace(Command::new(program()), arguments)
}

/// The same as a program that delays no other one.
pub(crate) fn idle_cargo(arguments: &[&str]) -> Command {
    in_workspace(idle(program()), arguments)
}

fn program() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

fn in_workspace(mut command: Command, arguments: &[&str]) -> Command {
    command.args(arguments).current_dir(repository::root());
    // `cargo run` describes this package in the environment. Build scripts that depend on such
    // variables would run again whenever cargo is started the other way, and with them half of the
    // dependencies would be compiled.
    for (name, _) in std::env::vars_os() {
        let is_of_this_package =
            OF_A_PACKAGE.iter().any(|prefix| name.to_string_lossy().starts_with(prefix));
        if is_of_this_package {
            command.env_remove(name);
        }
    }
    command
}

/// Whether `cargo NAME` exists.
pub(crate) fn has(name: &str) -> bool {
    let status = cargo(&[name, "--version"]).stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

/// The command that installs `cargo NAME` from the registry with the priority of
/// [`idle_cargo`]; none where it is installed.
pub(crate) fn installation(name: &str) -> Option<Command> {
    if has(name) {
        return None;
    }
    let package = format!("cargo-{name}");
    println!("installing {package}, which is missing (a few minutes, once)");
    // Built in a temporary directory, so that our target directory keeps only our own crates. It
    // runs for seconds, so a quick build is worth more than a quick program.
    let mut command = idle_cargo(&["install", "--locked", "--quiet", &package]);
    command
        .env_remove("CARGO_TARGET_DIR")
        .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "1")
        .env("CARGO_PROFILE_RELEASE_LTO", "off")
        .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16");
    Some(command)
}

/// Installs `cargo NAME` where it is missing; false when that fails.
pub(crate) fn ensure(name: &str) -> bool {
    installation(name).is_none_or(|mut command| {
        let status = command.status();
        status.is_ok_and(|status| status.success()) && has(name)
    })
}
