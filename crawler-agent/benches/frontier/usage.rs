//! What the process has used so far, from the files of `/proc/self`.

use std::{fs::File, io::Read as _, os::unix::fs::MetadataExt as _, path::Path};

use anyhow::Context as _;

/// Bytes of a block in the size of a file.
const BLOCK: u64 = 512;

/// What the process has used so far.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Usage {
    /// Processor time, in microseconds.
    pub(crate) cpu_us: i64,
    /// Bytes that went to the disk or will.
    pub(crate) written: u64,
    /// Calls that read from files.
    pub(crate) reads: u64,
}

impl Usage {
    pub(crate) fn now() -> anyhow::Result<Self> {
        let usage = nix::sys::resource::getrusage(nix::sys::resource::UsageWho::RUSAGE_SELF)?;
        let cpu = [usage.user_time(), usage.system_time()];
        let cpu_us = cpu.iter().map(|time| time.tv_sec() * 1_000_000 + time.tv_usec()).sum::<i64>();
        let written = field("/proc/self/io", "write_bytes:")?;
        Ok(Self { cpu_us, written, reads: field("/proc/self/io", "syscr:")? })
    }
}

/// Calls by this thread that read from files.
pub(crate) fn reads_of_thread() -> anyhow::Result<u64> {
    field("/proc/thread-self/io", "syscr:")
}

/// Resident memory in MB: `VmRSS` at present, `VmHWM` at most.
pub(crate) fn memory_mb(name: &str) -> anyhow::Result<f64> {
    Ok(field("/proc/self/status", &format!("{name}:"))? as f64 * 1_024.0 / 1e6)
}

/// The number after a name at the start of a line.
fn field(path: &str, name: &str) -> anyhow::Result<u64> {
    // In one call, because calls that read are counted.
    let mut bytes = [0; 8_192];
    let length = File::open(path)?.read(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes[..length]);
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    let number = line.and_then(|rest| rest.split_whitespace().next());
    Ok(number.with_context(|| format!("{path} has no {name}"))?.parse()?)
}

/// Bytes that the files in a directory take on disk. The store's file has holes where it has room
/// to grow.
pub(crate) fn bytes_on_disk(path: &Path) -> anyhow::Result<u64> {
    let mut blocks = 0;
    for entry in std::fs::read_dir(path)? {
        blocks += entry?.metadata()?.blocks();
    }
    Ok(blocks * BLOCK)
}
