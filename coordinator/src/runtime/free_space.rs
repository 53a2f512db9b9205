//! Free space on a disk.

use std::path::Path;

/// Bytes that may still be written to the disk of a file or directory.
pub fn free_bytes(path: &Path) -> nix::Result<u64> {
    let disk = nix::sys::statvfs::statvfs(path)?;
    Ok(disk.blocks_available() * disk.fragment_size())
}
