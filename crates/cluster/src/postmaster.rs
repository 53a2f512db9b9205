//! The server process: a direct child that listens on a Unix socket only and is stopped by the
//! kernel when this process ends.

use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use nix::errno::Errno;
use nix::sys::prctl::set_pdeathsig;
use nix::sys::signal::Signal;
use nix::unistd::{getpid, getppid};

use crate::initdb::{clean_command, reason};
use crate::layout::Layout;
use crate::server_user::ServerUser;
use crate::{ClusterError, Durability};

/// Settings of every cluster: no TCP, sockets for the owner alone, times in UTC, and no code
/// generation (it takes longer than our short statements).
const COMMON: [&str; 6] = [
    "listen_addresses=",
    "unix_socket_permissions=0700",
    "timezone=UTC",
    "log_timezone=UTC",
    "jit=off",
    "cluster_name=nearcrawl",
];

/// Settings that an acknowledged commit relies on, and a log that is bounded to a week.
const CRASH_SAFE: [&str; 9] = [
    "fsync=on",
    "full_page_writes=on",
    "max_connections=100",
    "logging_collector=on",
    "log_directory=log",
    "log_filename=postgres-%a.log",
    "log_rotation_age=1d",
    "log_rotation_size=0",
    "log_truncate_on_rotation=on",
];

/// Settings for tests: fast, not durable, and with connections for many processes.
const THROWAWAY: [&str; 6] = [
    "fsync=off",
    "full_page_writes=off",
    "synchronous_commit=off",
    "max_connections=300",
    "shared_buffers=64MB",
    "autovacuum_naptime=1h",
];

/// The command that starts the server.
pub(crate) fn command(
    layout: &Layout,
    bin: &Path,
    socket_dir: &Path,
    user: &ServerUser,
    durability: Durability,
) -> Command {
    let mut command = clean_command(&bin.join("postgres"));
    command.args(arguments(layout, socket_dir, durability));
    user.apply_to(&mut command);
    // A process group of its own: Ctrl-C in the terminal must stop the coordinator, which then
    // stops the database in order.
    command.process_group(0);
    command
}

/// The arguments of `postgres`: data directory, socket directory, settings.
pub(crate) fn arguments(
    layout: &Layout,
    socket_dir: &Path,
    durability: Durability,
) -> Vec<std::ffi::OsString> {
    let settings: &[&str] = match durability {
        Durability::CrashSafe => &CRASH_SAFE,
        Durability::Throwaway => &THROWAWAY,
    };
    let mut arguments = vec!["-D".into(), layout.data().into(), "-k".into(), socket_dir.into()];
    for setting in COMMON.iter().chain(settings) {
        arguments.extend(["-c".into(), (*setting).into()]);
    }
    arguments
}

/// Starts the server. The kernel sends it SIGINT ("fast shutdown") when the calling *thread* ends,
/// so the calling thread must live as long as the server.
pub(crate) fn spawn(mut command: Command, layout: &Layout) -> Result<Child, ClusterError> {
    let path = layout.start_log();
    let log = File::create(&path).map_err(ClusterError::prepare(&path))?;
    let copy = log.try_clone().map_err(ClusterError::prepare(&path))?;
    command.stdout(log).stderr(copy);
    set_parent_death_signal(&mut command);
    let program = PathBuf::from(command.get_program());
    command.spawn().map_err(|source| ClusterError::Spawn { program, source })
}

#[expect(
    unsafe_code,
    reason = "a closure between fork and exec; it makes two system calls and allocates nothing"
)]
fn set_parent_death_signal(command: &mut Command) {
    let parent = getpid();
    let closure = move || {
        // `pre_exec` runs after the user was changed, and a change of user clears this setting.
        set_pdeathsig(Signal::SIGINT)?;
        // The parent may have died before the setting took effect.
        if getppid() == parent { Ok(()) } else { Err(Errno::ESRCH.into()) }
    };
    // SAFETY: the closure is async-signal-safe: prctl and getppid only, no allocation, no lock.
    unsafe { command.pre_exec(closure) };
}

/// The last lines that the server printed before it ended.
pub(crate) fn last_output(layout: &Layout) -> String {
    let start_log = std::fs::read(layout.start_log()).unwrap_or_default();
    // Logs of earlier starts lie in the same directory, so they count only when this start used it.
    let log = newest_log(&layout.data().join("log")).filter(|_| continues_in_log(&start_log));
    reason(&log.unwrap_or(start_log))
}

fn continues_in_log(start_log: &[u8]) -> bool {
    String::from_utf8_lossy(start_log).contains("Future log output will appear")
}

fn newest_log(dir: &Path) -> Option<Vec<u8>> {
    let files = std::fs::read_dir(dir).ok()?.flatten();
    let newest = files.max_by_key(|file| file.metadata().and_then(|meta| meta.modified()).ok())?;
    std::fs::read(newest.path()).ok()
}

/// Whether the start failed because of the remains of a dead postmaster: nobody has waited for its
/// process yet, so that its number is taken, or one of its children still holds the shared memory.
pub(crate) fn is_blocked_by_remains(error: &ClusterError) -> bool {
    let ClusterError::Start { output, .. } = error else { return false };
    output.contains("postmaster.pid") || output.contains("pre-existing shared memory block")
}
