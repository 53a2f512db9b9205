//! The owner's pause: a file in the data directory, so that it outlives the agent's process.

use std::{io::ErrorKind, path::Path};

use crate::file::{self, FileError};

const FILE: &str = "paused";

/// Whether the owner has paused the agent with this data directory.
pub fn is_paused(dir: &Path) -> bool {
    // A directory that cannot be read stops the agent elsewhere.
    dir.join(FILE).try_exists().unwrap_or(false)
}

/// Pauses the agent; returns whether it was not paused.
pub fn pause(dir: &Path) -> Result<bool, FileError> {
    let before = is_paused(dir);
    file::write_atomically(&dir.join(FILE), b"")?;
    Ok(!before)
}

/// Ends the pause; returns whether the agent was paused.
pub fn resume(dir: &Path) -> Result<bool, FileError> {
    let path = dir.join(FILE);
    match std::fs::remove_file(&path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(FileError::at(&path, "deleted")(error)),
    }
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    #[test]
    fn a_pause_lasts_until_it_is_ended() {
        let dir = TempDir::new().unwrap();
        assert!(!is_paused(dir.path()));
        assert!(pause(dir.path()).unwrap());
        assert!(!pause(dir.path()).unwrap(), "paused already");
        assert!(is_paused(dir.path()));
        assert!(resume(dir.path()).unwrap());
        assert!(!resume(dir.path()).unwrap());
        assert!(!is_paused(dir.path()));
    }
}
