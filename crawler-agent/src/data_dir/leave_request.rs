//! The owner's request to end the agent: a file in the data directory, so that the running agent
//! finds it, and one that was killed meanwhile goes on with it at the next start.

use std::path::Path;

use crate::file::{self, FileError};

pub(super) const FILE: &str = "leaving";

/// Whether the owner wants the agent with this data directory to leave.
pub fn is_made(dir: &Path) -> bool {
    // A directory that cannot be read stops the agent elsewhere.
    dir.join(FILE).try_exists().unwrap_or(false)
}

/// Makes the request.
pub fn make(dir: &Path) -> Result<(), FileError> {
    file::write_atomically(&dir.join(FILE), b"")
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    #[test]
    fn a_request_stays() {
        let dir = TempDir::new().unwrap();
        assert!(!is_made(dir.path()));
        make(dir.path()).unwrap();
        make(dir.path()).unwrap();
        assert!(is_made(dir.path()));
    }
}
