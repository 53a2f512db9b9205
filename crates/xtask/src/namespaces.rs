//! Whether this machine offers the virtual internet of the tests: TUN devices and namespaces.

use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use anyhow::Context;

use crate::repository;

/// `EX_UNAVAILABLE` of sysexits: how `nearcrawl-internet` ends where there can be no virtual
/// internet.
const UNAVAILABLE: i32 = 69;
/// The user without privileges of Debian and most other systems.
const NOBODY: u32 = 65_534;

/// Why the user of this process cannot have a virtual internet; `None` when the user can.
pub(crate) fn tun_obstacle() -> anyhow::Result<Option<String>> {
    obstacle(Command::new(repository::binary("nearcrawl-internet")))
}

/// The same for a user without privileges.
pub(crate) fn unprivileged_tun_obstacle() -> anyhow::Result<Option<String>> {
    // The target directory may be closed to other users.
    let copy = std::env::temp_dir().join(format!("nearcrawl-internet-{}", std::process::id()));
    std::fs::copy(repository::binary("nearcrawl-internet"), &copy)
        .context("cannot copy nearcrawl-internet")?;
    std::fs::set_permissions(&copy, std::fs::Permissions::from_mode(0o755))?;
    let outcome = obstacle(without_privileges(Command::new(&copy)));
    std::fs::remove_file(&copy).context("cannot remove the copy of nearcrawl-internet")?;
    outcome
}

/// Why a user without privileges cannot have a user namespace.
pub(crate) fn user_namespace_obstacle() -> anyhow::Result<Option<String>> {
    let mut unshare = without_privileges(Command::new("unshare"));
    let output = unshare.args(["-U", "true"]).output().context("cannot run unshare")?;
    Ok((!output.status.success()).then(|| last_line(&output.stderr)))
}

fn obstacle(mut program: Command) -> anyhow::Result<Option<String>> {
    let output = program.output().context("cannot run nearcrawl-internet")?;
    // Any other failure is for the tests to report.
    Ok((output.status.code() == Some(UNAVAILABLE)).then(|| last_line(&output.stderr)))
}

fn without_privileges(mut command: Command) -> Command {
    command.current_dir(Path::new("/"));
    if nix::unistd::geteuid().is_root() {
        command.uid(NOBODY).gid(NOBODY);
    }
    command
}

fn last_line(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    let line = text.lines().last().unwrap_or("no reason was given");
    line.trim_start_matches("nearcrawl-internet: ").to_owned()
}
