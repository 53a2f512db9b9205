//! Refuses to start on a full disk: Postgres and the index would fail with errors that do not name
//! the cause.

use std::path::Path;

use crate::runtime::failure::Failure;
use crate::runtime::free_space::free_bytes;

/// Least free space with which database and index can be opened, in MiB.
pub(super) const LEAST_MIB: u64 = 16;

/// A failure if the disk of the data directory is full.
pub fn check(data_dir: &Path) -> Result<(), Failure> {
    check_free(data_dir, LEAST_MIB)
}

fn check_free(data_dir: &Path, needed_mib: u64) -> Result<(), Failure> {
    // The directory itself may not exist yet.
    let existing = data_dir.ancestors().find(|path| path.exists());
    // If the free space is unknown, what is opened next fails when the disk is full.
    let Some(free) = existing.and_then(|path| free_bytes(path).ok()) else { return Ok(()) };
    let free_mib = free >> 20;
    if free_mib >= needed_mib {
        return Ok(());
    }
    Err(Failure::cannot_create(format!(
        "the disk of the data directory {} is full: {free_mib} MiB are free and {needed_mib} MiB \
         are needed to start; free some space, or choose another directory with --data-dir",
        data_dir.display()
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_named_with_its_directory() {
        let dir = tempfile::tempdir().unwrap();
        let new = dir.path().join("not/made/yet");
        assert!(check_free(&new, 0).is_ok());
        let failure = check_free(&new, u64::MAX).unwrap_err();
        assert_eq!(failure.code(), 73);
        assert!(failure.to_string().contains("not/made/yet is full"), "{failure}");
        assert!(!new.exists());
    }
}
