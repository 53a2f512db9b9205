//! Which files to read.

use std::io;
use std::path::{Path, PathBuf};

use crate::input::is_stdin;

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
        "{dir} holds no registry data: no file named delegated-…, ripe.db…, apnic.db…, afrinic.db…, lacnic.db… or \
         arin_db…; fetch today's delegated files with `rir-loader fetch --dir {dir}`"
    )]
    NoneIn {
        /// The directory.
        dir: PathBuf,
    },
}

/// The files that `paths` mean, in order: a file and `-` (standard input) stand for themselves, a
/// directory for the registry files in it, sorted by name: `delegated-*` and the registries' dumps.
/// Checksums (`.md5`), signatures (`.asc`) and unfinished downloads (`.part`) are passed over, and
/// so is a dump whose `.utf8` twin is there.
pub fn files(paths: &[PathBuf]) -> Result<Vec<PathBuf>, FilesError> {
    let mut found = vec![];
    for path in paths {
        if is_stdin(path) {
            found.push(path.clone());
            continue;
        }
        let meta =
            path.metadata().map_err(|source| FilesError::Look { path: path.clone(), source })?;
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
    let twins: Vec<String> = files.iter().filter_map(|path| plain_twin(path)).collect();
    files.retain(|path| {
        !twins.iter().any(|twin| path.file_name().is_some_and(|name| name == twin.as_str()))
    });
    if files.is_empty() { Err(FilesError::NoneIn { dir: dir.to_owned() }) } else { Ok(files) }
}

/// How the names of registry files begin.
const BEGINNINGS: [&str; 8] =
    ["delegated-", "ripe.db", "apnic.db", "afrinic.db", "lacnic.db", "arin.db", "arin_db", "arin-"];

fn is_ours(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let named = BEGINNINGS.iter().any(|beginning| name.starts_with(beginning));
    let aside = path.extension().is_some_and(|extension| {
        ["md5", "asc", "part", "etag", "edition", "sha512"].iter().any(|e| extension == *e)
    });
    named && !aside && path.is_file()
}

/// `ripe.db.inetnum.gz` for `ripe.db.inetnum.utf8.gz`: the same objects in another encoding.
fn plain_twin(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?;
    name.contains(".utf8").then(|| name.replace(".utf8", ""))
}
