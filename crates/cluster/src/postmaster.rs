//! The server process: our direct child, on a socket alone, ended by the kernel when we end.

use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use nix::errno::Errno;
use nix::sys::prctl::set_pdeathsig;
use nix::sys::signal::Signal;
use nix::unistd::{getpid, getppid};

use crate::identity::Identity;
use crate::initdb::{clean_command, reason};
use crate::layout::Layout;
use crate::{ClusterError, Durability};

/// Settings of every cluster: no TCP, sockets for the owner alone, times in UTC, and no code
/// generation (it costs more than our short statements take).
const ALWAYS: [&str; 6] = [
    "listen_addresses=",
    "unix_socket_permissions=0700",
    "timezone=UTC",
    "log_timezone=UTC",
    "jit=off",
    "cluster_name=nearcrawl",
];

/// What an acknowledged commit relies on, and a log that is bounded to a week.
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

/// For tests: speed before everything, and many processes at once.
const THROWAWAY: [&str; 6] = [
    "fsync=off",
    "full_page_writes=off",
    "synchronous_commit=off",
    "max_connections=300",
    "shared_buffers=64MB",
    "autovacuum_naptime=1h",
];

/// The command line of the server.
pub(crate) fn command(
    layout: &Layout,
    bin: &Path,
    socket_dir: &Path,
    identity: &Identity,
    durability: Durability,
) -> Command {
    let mut command = clean_command(&bin.join("postgres"));
    command.args(arguments(layout, socket_dir, durability));
    identity.apply(&mut command);
    // Its own process group: Ctrl-C in the terminal must reach us first, not the database.
    command.process_group(0);
    command
}

/// The arguments of `postgres`.
pub(crate) fn arguments(
    layout: &Layout,
    socket_dir: &Path,
    durability: Durability,
) -> Vec<std::ffi::OsString> {
    let settings: &[&str] = match durability {
        Durability::CrashSafe => &CRASH_SAFE,
        Durability::Throwaway => &THROWAWAY,
    };
    let mut all = vec!["-D".into(), layout.data().into(), "-k".into(), socket_dir.into()];
    for setting in ALWAYS.iter().chain(settings) {
        all.extend(["-c".into(), (*setting).into()]);
    }
    all
}

/// Starts the server. The kernel sends it SIGINT ("fast shutdown") when the calling *thread* ends,
/// so the caller must be a thread that lives as long as the server shall.
pub(crate) fn spawn(mut command: Command, layout: &Layout) -> Result<Child, ClusterError> {
    let path = layout.start_log();
    let log = File::create(&path).map_err(ClusterError::prepare(&path))?;
    let copy = log.try_clone().map_err(ClusterError::prepare(&path))?;
    command.stdout(log).stderr(copy);
    die_with_us(&mut command);
    let program = PathBuf::from(command.get_program());
    command.spawn().map_err(|source| ClusterError::Spawn { program, source })
}

#[expect(
    unsafe_code,
    reason = "a closure between fork and exec; it makes two system calls and allocates nothing"
)]
fn die_with_us(command: &mut Command) {
    let us = getpid();
    let closure = move || {
        // After the uid has changed, because that change clears the setting.
        set_pdeathsig(Signal::SIGINT)?;
        // We may have died before the line above took effect.
        if getppid() == us { Ok(()) } else { Err(Errno::ESRCH.into()) }
    };
    // SAFETY: the closure is async-signal-safe: prctl and getppid only, no allocation, no lock.
    unsafe { command.pre_exec(closure) };
}

/// Why the server ended before it was ready, in its own words.
pub(crate) fn last_words(layout: &Layout) -> String {
    let early = std::fs::read(layout.start_log()).unwrap_or_default();
    let log = newest_log(&layout.data().join("log")).filter(|_| moved_to_log(&early));
    reason(&log.unwrap_or(early))
}

fn moved_to_log(early: &[u8]) -> bool {
    String::from_utf8_lossy(early).contains("Future log output will appear")
}

fn newest_log(dir: &Path) -> Option<Vec<u8>> {
    let files = std::fs::read_dir(dir).ok()?.flatten();
    let newest = files.max_by_key(|file| file.metadata().and_then(|meta| meta.modified()).ok())?;
    std::fs::read(newest.path()).ok()
}

/// Whether `error` is what remains of a predecessor that the system has not finished burying: its
/// lock file names a process that still has a number, or one of its workers still holds the shared
/// memory.
pub(crate) fn is_left_over(error: &ClusterError) -> bool {
    let ClusterError::Start { said, .. } = error else { return false };
    said.contains("postmaster.pid") || said.contains("pre-existing shared memory block")
}
