//! Removal of everything that the agent keeps on disk.

use std::{io::ErrorKind, path::Path};

use super::{DataDir, DataDirError, LEAVE_REQUEST};
use crate::file::FileError;

/// What an agent makes in its data directory. Only this is deleted: the owner may have named a
/// directory that holds other files.
const ENTRIES: [&str; 14] = [
    // The first one: who starts without it has left.
    super::IDENTITY,
    super::ACTIVITY_LOG,
    "bundles",
    super::FRONTIER,
    "packages",
    super::PROGRAMS,
    "region.redb",
    "usage",
    "status.json",
    "status.tmp",
    "control.sock",
    super::OWNERS_PAUSE.file_name(),
    super::KEY,
    // The last one: while it is there, an interrupted removal goes on at the next start.
    LEAVE_REQUEST.file_name(),
];

/// Whether the agent with the data directory `dir` has left, and the removal of its files was
/// interrupted. Only an agent that has enrolled is asked to leave.
pub fn is_interrupted(dir: &Path) -> Result<bool, DataDirError> {
    Ok(LEAVE_REQUEST.is_set(dir) && DataDir::at(dir).identity()?.is_none())
}

/// Deletes what the agent keeps in `dir`, and `dir` itself if nothing else is in it. Returns
/// whether `dir` is gone.
pub fn remove(dir: &Path) -> Result<bool, FileError> {
    for name in ENTRIES {
        let path = dir.join(name);
        let removed = match std::fs::symlink_metadata(&path) {
            Ok(metadata) if metadata.is_dir() => std::fs::remove_dir_all(&path),
            Ok(_) => std::fs::remove_file(&path),
            Err(error) => Err(error),
        };
        match removed {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(FileError::at(&path, "deleted")(error));
            }
            Ok(()) | Err(_) => {}
        }
    }
    // A service manager may own the directory itself, and files of others stay.
    Ok(match std::fs::remove_dir(dir) {
        Ok(()) => true,
        Err(error) => error.kind() == ErrorKind::NotFound,
    })
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    #[test]
    fn only_the_agents_files_are_deleted() {
        let parent = TempDir::new().unwrap();
        let dir = parent.path().join("data");
        std::fs::create_dir_all(dir.join("frontier/x")).unwrap();
        std::fs::write(dir.join("agent.key"), "k").unwrap();
        std::fs::write(dir.join("letter.txt"), "mine").unwrap();
        assert!(!remove(&dir).unwrap());
        let left: Vec<_> = std::fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap()).collect();
        assert_eq!(left.len(), 1);
        std::fs::remove_file(dir.join("letter.txt")).unwrap();
        assert!(remove(&dir).unwrap());
        assert!(remove(&dir).unwrap(), "a directory that is gone is no error");
    }
}
