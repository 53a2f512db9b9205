//! Calls of cargo in this workspace.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use crate::process::{idle, succeed};
use crate::repository;

/// Whether crates are built for later changes, too. Decided once, so that all calls of a run share
/// what they built.
static IS_INCREMENTAL: LazyLock<bool> = LazyLock::new(|| {
    let is_set = |name| std::env::var_os(name).is_some();
    is_set("CARGO_INCREMENTAL")
        || is_set("CARGO_BUILD_INCREMENTAL")
        || was_built_incrementally(&repository::target())
});

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
    // A first build takes half of the time without what later ones need. Whoever changes the code
    // starts that with a `cargo build` or an editor, and keeps it from then on.
    if !*IS_INCREMENTAL {
        command.env("CARGO_INCREMENTAL", "0");
    }
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

/// Whether a crate of ours, other than this program, was built incrementally in a target directory.
fn was_built_incrementally(target: &Path) -> bool {
    let is_other = |name: &str| !name.starts_with("xtask-");
    fs::read_dir(target.join("debug/incremental")).is_ok_and(|mut entries| {
        entries.any(|entry| entry.is_ok_and(|entry| is_other(&entry.file_name().to_string_lossy())))
    })
}

/// Builds the programs of a package with optimisation. Only the program that runs afterwards writes
/// to standard output.
pub(crate) fn build_release(package: &str) -> anyhow::Result<()> {
    let mut build =
        cargo(&["build", "--locked", "--quiet", "--release", "--package", package, "--bins"]);
    succeed(build.stdout(Stdio::null()), &format!("the build of {package}"))
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
        .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0")
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_incremental_once_a_crate_other_than_this_one_was_built_so() {
        let target = tempfile::tempdir().unwrap();
        assert!(!was_built_incrementally(target.path()));
        let incremental = target.path().join("debug/incremental");
        fs::create_dir_all(incremental.join("xtask-1d8zmf")).unwrap();
        assert!(!was_built_incrementally(target.path()));
        fs::create_dir_all(incremental.join("coordinator-0v2j")).unwrap();
        assert!(was_built_incrementally(target.path()));
    }
}
