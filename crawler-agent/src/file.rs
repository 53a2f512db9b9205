//! Files that are replaced atomically, and errors that name the file.

use std::{
    fs::{File, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
};

/// Permissions of files that need no protection beyond that of their directory.
pub const SHARED: u32 = 0o644;
/// Permissions of files for the owner's eyes only.
pub const PRIVATE: u32 = 0o600;

/// A failed operation on a file or directory.
#[derive(Debug, thiserror::Error)]
#[error("{path} cannot be {attempt}")]
pub struct FileError {
    path: PathBuf,
    /// What was attempted, as a participle.
    attempt: &'static str,
    #[source]
    source: io::Error,
}

impl FileError {
    /// Turns an error of the operating system into one that names `path` and the attempt.
    pub fn at(path: &Path, attempt: &'static str) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self { path, attempt, source }
    }
}

/// Replaces the file `path`. When this returns the content survives a crash; a crash before leaves
/// the old file.
pub fn write_atomically(path: &Path, content: &[u8], mode: u32) -> Result<(), FileError> {
    let write = || {
        let temporary = path.with_extension("tmp");
        let mut options = OpenOptions::new();
        options.create(true).write(true).truncate(true).mode(mode);
        let mut file = options.open(&temporary)?;
        file.write_all(content)?;
        file.sync_all()?;
        std::fs::rename(&temporary, path)?;
        // The rename itself is durable only once the directory is synced.
        File::open(path.parent().unwrap_or(Path::new(".")))?.sync_all()
    };
    write().map_err(FileError::at(path, "written"))
}
