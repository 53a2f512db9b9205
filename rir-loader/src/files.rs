//! Finds the registry files that paths stand for.

use std::io;
use std::path::{Path, PathBuf};

use crate::input::is_stdin;

/// Why files cannot be found.
#[derive(Debug, thiserror::Error)]
pub enum FilesError {
    /// The path does not exist or may not be read.
    #[error("cannot look at {path}")]
    Access {
        /// The path as given.
        path: PathBuf,
        /// Error of the file system.
        source: io::Error,
    },
    /// A directory without registry files.
    #[error(
        "{dir} holds no registry data: no file named delegated-…, ripe.db…, apnic.db…, afrinic.db…, \
         lacnic.db… or arin_db…; fetch today's delegated files with `rir-loader fetch --dir {dir}`"
    )]
    NoFiles {
        /// The directory.
        dir: PathBuf,
    },
}

/// The files that `paths` stand for, in order: a file and `-` (standard input) for themselves, a
/// directory for the registry files in it, sorted by name. Checksums, signatures and unfinished
/// downloads in a directory are left out, and so is a dump whose `.utf8` version is there.
pub fn files(paths: &[PathBuf]) -> Result<Vec<PathBuf>, FilesError> {
    let mut files = vec![];
    for path in paths {
        let error = |source| FilesError::Access { path: path.clone(), source };
        if !is_stdin(path) && path.metadata().map_err(error)?.is_dir() {
            files.extend(files_in(path)?);
        } else {
            files.push(path.clone());
        }
    }
    Ok(files)
}

fn files_in(dir: &Path) -> Result<Vec<PathBuf>, FilesError> {
    let error = |source| FilesError::Access { path: dir.to_owned(), source };
    let mut files = vec![];
    for entry in dir.read_dir().map_err(error)? {
        let path = entry.map_err(error)?.path();
        if is_registry_file(&path) {
            files.push(path);
        }
    }
    files.sort();
    // RIPE publishes each dump in two encodings with the same objects.
    let in_latin1: Vec<PathBuf> = files.iter().filter_map(|path| latin1_version(path)).collect();
    files.retain(|path| !in_latin1.contains(path));
    if files.is_empty() { Err(FilesError::NoFiles { dir: dir.to_owned() }) } else { Ok(files) }
}

fn is_registry_file(path: &Path) -> bool {
    const PREFIXES: [&str; 8] = [
        "delegated-",
        "ripe.db",
        "apnic.db",
        "afrinic.db",
        "lacnic.db",
        "arin.db",
        "arin_db",
        "arin-",
    ];
    const OTHER_EXTENSIONS: [&str; 6] = ["md5", "asc", "part", "etag", "edition", "sha512"];
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    PREFIXES.iter().any(|prefix| name.starts_with(prefix))
        && !OTHER_EXTENSIONS.contains(&extension)
        && path.is_file()
}

/// `ripe.db.inetnum.gz` for `ripe.db.inetnum.utf8.gz`.
fn latin1_version(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?;
    name.contains(".utf8").then(|| path.with_file_name(name.replace(".utf8", "")))
}
