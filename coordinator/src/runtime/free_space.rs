//! Free space on a disk.

use std::path::Path;

/// Files for which there must be room: Postgres and the index need some, too.
pub const MIN_FREE_FILES: u64 = 10_000;

/// What may still be written to a disk.
pub struct FreeSpace {
    /// Room for files, in bytes.
    pub bytes: u64,
    /// Number of files; none where the file system has no such limit.
    pub files: Option<u64>,
}

impl FreeSpace {
    /// Of the disk of a file or directory.
    pub fn at(path: &Path) -> nix::Result<Self> {
        let disk = nix::sys::statvfs::statvfs(path)?;
        let bytes = disk.blocks_available() * disk.fragment_size();
        Ok(Self { bytes, files: (disk.files() > 0).then(|| disk.files_available()) })
    }
}

/// Bytes that may still be written to the disk of a file or directory.
pub fn free_bytes(path: &Path) -> nix::Result<u64> {
    FreeSpace::at(path).map(|free| free.bytes)
}
