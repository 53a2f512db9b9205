//! Finds the registry files to which paths refer.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};

use crate::input::is_stdin;
use crate::read::ReadError;

/// The files to which `paths` refer, in order. A file and `-` (standard input) mean themselves, a
/// directory the registry files and tables of routes in it, sorted by name. Checksums, signatures
/// and unfinished downloads in a directory are left out, and so is a dump whose `.utf8` version is
/// there.
pub fn files(paths: &[PathBuf]) -> Result<Vec<PathBuf>, ReadError> {
    let mut files = vec![];
    for path in paths {
        let error = |source| open_error(path, source);
        if !is_stdin(path) && path.metadata().map_err(error)?.is_dir() {
            files.extend(files_in(path)?);
        } else {
            files.push(path.clone());
        }
    }
    // A file of the directory may be named as well.
    let mut seen = HashSet::new();
    files.retain(|file| seen.insert(file.clone()));
    Ok(files)
}

fn files_in(dir: &Path) -> Result<Vec<PathBuf>, ReadError> {
    let error = |source| open_error(dir, source);
    let mut files = vec![];
    for entry in dir.read_dir().map_err(error)? {
        let path = entry.map_err(error)?.path();
        if is_registry_file(&path) || is_table_of_routes(&path) {
            files.push(path);
        }
    }
    files.sort();
    // RIPE publishes each dump in two encodings with the same objects.
    let in_latin1: Vec<PathBuf> = files.iter().filter_map(|path| latin1_version(path)).collect();
    files.retain(|path| !in_latin1.contains(path));
    // A table of routes only adds names to what the registries list.
    if files.iter().all(|path| is_table_of_routes(path)) {
        Err(ReadError::NoFiles { dir: dir.display().to_string() })
    } else {
        Ok(files)
    }
}

fn open_error(path: &Path, source: io::Error) -> ReadError {
    ReadError::Open { file: path.display().to_string(), source }
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
    has_prefix(path, &PREFIXES)
}

fn is_table_of_routes(path: &Path) -> bool {
    has_prefix(path, &["routes"])
}

/// Whether this is a file with such a name, and not a checksum or the like of another file.
fn has_prefix(path: &Path, prefixes: &[&str]) -> bool {
    const OTHER_EXTENSIONS: [&str; 6] = ["md5", "asc", "part", "etag", "edition", "sha512"];
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    prefixes.iter().any(|prefix| name.starts_with(prefix))
        && !OTHER_EXTENSIONS.contains(&extension)
        && path.is_file()
}

/// `ripe.db.inetnum.gz` for `ripe.db.inetnum.utf8.gz`.
fn latin1_version(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?;
    name.contains(".utf8").then(|| path.with_file_name(name.replace(".utf8", "")))
}
