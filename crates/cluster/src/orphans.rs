//! Server processes that outlived their postmaster.
//!
//! After `kill -9` of a postmaster its children end by themselves as soon as they notice. A busy or
//! stopped child notices late or never. Until then it holds the shared memory, and no new server
//! can start. Its transaction is lost already, so nothing is gained by waiting.

use std::path::Path;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// Kills every Postgres process whose working directory is `data` and returns their number. The
/// caller holds the lock of the directory and knows that no postmaster runs there.
pub(crate) fn kill_all(data: &Path) -> usize {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    // A process that ends at this moment cannot be signalled and need not be.
    pids.filter(|pid| {
        is_server_process(*pid, data) && kill(Pid::from_raw(*pid), Signal::SIGKILL).is_ok()
    })
    .count()
}

fn is_server_process(pid: i32, data: &Path) -> bool {
    let works_in_data = std::fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd == data);
    works_in_data
        && std::fs::read_to_string(format!("/proc/{pid}/comm"))
            .is_ok_and(|name| name.starts_with("postgres"))
}
