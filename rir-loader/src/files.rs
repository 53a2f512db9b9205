//! Which files to read.

use std::io;
use std::path::{Path, PathBuf};

/// Why the files could not be found.
#[derive(Debug, thiserror::Error)]
pub enum FilesError {
    /// Nothing by that name, or no permission.
    #[error("cannot look at {path}")]
    Look {
        /// What was named.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A directory without registry files.
    #[error(
        "{dir} holds no file whose name begins with `delegated-`; fetch today's with `rir-loader fetch --dir {dir}`"
    )]
    NoneIn {
        /// The directory.
        dir: PathBuf,
    },
}

/// The files that `paths` mean, in order: a file stands for itself, a directory for the `delegated-*` files in it, sorted by
/// name. Checksums (`.md5`), signatures (`.asc`) and unfinished downloads (`.part`) are passed over.
pub fn files(paths: &[PathBuf]) -> Result<Vec<PathBuf>, FilesError> {
    let mut found = vec![];
    for path in paths {
        let meta = path.metadata().map_err(|source| FilesError::Look { path: path.clone(), source })?;
        if meta.is_dir() {
            found.extend(in_directory(path)?);
        } else {
            found.push(path.clone());
        }
    }
    Ok(found)
}

fn in_directory(dir: &Path) -> Result<Vec<PathBuf>, FilesError> {
    let look = |source| FilesError::Look { path: dir.to_owned(), source };
    let entries = dir.read_dir().map_err(look)?.collect::<Result<Vec<_>, _>>().map_err(look)?;
    let mut files: Vec<PathBuf> =
        entries.into_iter().map(|entry| entry.path()).filter(|path| is_ours(path)).collect();
    files.sort();
    if files.is_empty() { Err(FilesError::NoneIn { dir: dir.to_owned() }) } else { Ok(files) }
}

fn is_ours(path: &Path) -> bool {
    let named =
        path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with("delegated-"));
    let aside = path
        .extension()
        .is_some_and(|extension| ["md5", "asc", "part", "etag"].iter().any(|e| extension == *e));
    named && !aside && path.is_file()
}
