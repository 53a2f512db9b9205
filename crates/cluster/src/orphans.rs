//! Server processes that outlived their postmaster.
//!
//! After `kill -9` of a postmaster its children end by themselves when they notice, which a busy
//! one may do late; until then they hold the shared memory and no new server can start. Whatever
//! they were doing is lost already.

use std::path::Path;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// Sends `how` to every Postgres process that works in `data`; the number of them. The caller owns
/// the directory and knows that no postmaster lives there.
pub(crate) fn signal(data: &Path, how: Signal) -> usize {
    let orphans = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = orphans.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    // One that ends at this very moment cannot be signalled, and need not be.
    numbers
        .filter(|number| works_in(*number, data) && kill(Pid::from_raw(*number), how).is_ok())
        .count()
}

fn works_in(number: i32, data: &Path) -> bool {
    let here = std::fs::read_link(format!("/proc/{number}/cwd")).is_ok_and(|cwd| cwd == data);
    here && std::fs::read_to_string(format!("/proc/{number}/comm"))
        .is_ok_and(|name| name.starts_with("postgres"))
}
