//! Where things are in this repository.

use std::path::{Path, PathBuf};

/// The folder with the workspace's `Cargo.toml`.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_path_buf()
}

/// Where cargo puts what it builds; `CARGO_TARGET_DIR` when set.
pub(crate) fn target() -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(dir) => root().join(dir),
        None => root().join("target"),
    }
}

/// A built program of the development profile.
pub(crate) fn binary(name: &str) -> PathBuf {
    target().join("debug").join(name)
}

/// The folder that may lie beside the repository with data that does not belong in it.
pub(crate) fn beside(name: &str) -> PathBuf {
    root().join("../shared").join(name)
}
