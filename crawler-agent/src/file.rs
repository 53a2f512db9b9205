//! Files that are replaced atomically, and errors that name the file.

use std::{
    fs::{DirBuilder, File, OpenOptions, Permissions},
    io::{self, Write as _},
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
};

use nix::sys::stat::Mode;

/// Permissions of files: for the owner's eyes only.
const PRIVATE: u32 = 0o600;
/// Permissions of directories.
const PRIVATE_DIR: u32 = 0o700;
/// Permission bit of directories that several users share, like `/tmp`.
const STICKY: u32 = 0o1000;

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

/// Makes every file and directory that this program creates from now on unreadable for other users.
pub fn create_privately() {
    nix::sys::stat::umask(Mode::from_bits_truncate(0o077));
}

/// Whether other users may enter or read the directory `dir`.
pub fn is_open(dir: &Path) -> io::Result<bool> {
    let mode = std::fs::metadata(dir)?.permissions().mode();
    Ok(mode & 0o777 != PRIVATE_DIR && mode & STICKY == 0)
}

/// Creates the directory `dir` for this user alone; closes one that is open to others.
pub fn private_dir(dir: &Path) -> Result<(), FileError> {
    let created = DirBuilder::new().recursive(true).mode(PRIVATE_DIR).create(dir);
    created.map_err(FileError::at(dir, "created"))?;
    let close = || {
        if !is_open(dir)? {
            return Ok(());
        }
        std::fs::set_permissions(dir, Permissions::from_mode(PRIVATE_DIR))
    };
    close().map_err(FileError::at(dir, "closed to other users"))
}

/// Replaces the file `path`, for this user alone. When this returns the content survives a crash; a
/// crash before leaves the old file.
pub fn write_atomically(path: &Path, content: &[u8]) -> Result<(), FileError> {
    let write = || {
        let temporary = path.with_extension("tmp");
        let mut options = OpenOptions::new();
        options.create(true).write(true).truncate(true).mode(PRIVATE);
        let mut file = options.open(&temporary)?;
        file.write_all(content)?;
        file.sync_all()?;
        rename(&temporary, path)
    };
    write().map_err(FileError::at(path, "written"))
}

/// Gives a file another name. When this returns, that survives a crash.
pub fn rename(from: &Path, to: &Path) -> io::Result<()> {
    std::fs::rename(from, to)?;
    // The rename itself is durable only once the directory is synced.
    File::open(to.parent().unwrap_or(Path::new(".")))?.sync_all()
}
