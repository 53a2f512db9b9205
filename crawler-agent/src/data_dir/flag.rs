//! Flags of the owner: files in the data directory, so that the running agent finds them, and they
//! outlive its process.

use std::{io::ErrorKind, path::Path};

use crate::file::{self, FileError};

/// A flag, by the name of its file. The file is empty.
#[derive(Debug, Clone, Copy)]
pub struct Flag(&'static str);

/// The owner has paused the agent.
pub const OWNERS_PAUSE: Flag = Flag("paused");
/// The owner wants the agent to leave. One that was killed meanwhile goes on with it at the next
/// start.
pub const LEAVE_REQUEST: Flag = Flag("leaving");

impl Flag {
    /// Whether it is set for the agent with this data directory.
    pub fn is_set(self, dir: &Path) -> bool {
        // A directory that cannot be read stops the agent elsewhere.
        dir.join(self.0).try_exists().unwrap_or(false)
    }

    /// Sets it; returns whether it was not set.
    pub fn set(self, dir: &Path) -> Result<bool, FileError> {
        let is_new = !self.is_set(dir);
        file::write_atomically(&dir.join(self.0), b"")?;
        Ok(is_new)
    }

    /// Clears it; returns whether it was set.
    pub fn clear(self, dir: &Path) -> Result<bool, FileError> {
        let path = dir.join(self.0);
        match std::fs::remove_file(&path) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(error) => Err(FileError::at(&path, "deleted")(error)),
        }
    }

    pub(super) const fn file_name(self) -> &'static str {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    #[test]
    fn a_flag_stays_until_it_is_cleared() {
        let dir = TempDir::new().unwrap();
        assert!(!OWNERS_PAUSE.is_set(dir.path()));
        assert!(OWNERS_PAUSE.set(dir.path()).unwrap());
        assert!(!OWNERS_PAUSE.set(dir.path()).unwrap(), "it is set already");
        assert!(OWNERS_PAUSE.is_set(dir.path()));
        assert!(!LEAVE_REQUEST.is_set(dir.path()), "it is another one");
        assert!(OWNERS_PAUSE.clear(dir.path()).unwrap());
        assert!(!OWNERS_PAUSE.clear(dir.path()).unwrap());
        assert!(!OWNERS_PAUSE.is_set(dir.path()));
    }
}
