//! Paths of this repository.

use std::path::{Path, PathBuf};

/// The directory with the workspace's `Cargo.toml`.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_path_buf()
}

/// The directory of cargo's output; `CARGO_TARGET_DIR` when set.
pub(crate) fn target() -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(dir) => root().join(dir),
        None => root().join("target"),
    }
}

/// Path of a program that was built with the development profile.
pub(crate) fn binary(name: &str) -> PathBuf {
    target().join("debug").join(name)
}

/// A directory below `../shared`, which holds data that is not part of the repository. It may be
/// missing.
pub(crate) fn beside(name: &str) -> PathBuf {
    root().join("../shared").join(name)
}
