//! A slow disk: a library that is loaded into the agent before the C library, and whose calls of
//! fsync take 10 ms more. It is compiled when it is needed, so that nothing of it is in the agent.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail};

const SOURCE: &str = include_str!("slow_sync.c");

/// Compiles the library into a directory.
pub(super) fn library(dir: &Path) -> anyhow::Result<PathBuf> {
    let source = dir.join("slow_sync.c");
    std::fs::write(&source, SOURCE)
        .with_context(|| format!("cannot write {}", source.display()))?;
    let library = dir.join("slow_sync.so");
    let mut compiler = Command::new("cc");
    compiler.args(["-O1", "-shared", "-fPIC", "-o"]).arg(&library).arg(&source);
    let status = compiler.status().context("cannot start cc, the C compiler")?;
    if !status.success() {
        bail!("{} cannot be compiled", source.display());
    }
    Ok(library)
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn a_sync_takes_ten_milliseconds_more() {
        let dir = tempfile::tempdir().unwrap();
        let library = library(dir.path()).unwrap();
        std::fs::write(dir.path().join("file"), b"text").unwrap();
        let mut sync = Command::new("sync");
        sync.args(["--data", "file"]).current_dir(dir.path()).env("LD_PRELOAD", library);
        let started = Instant::now();
        assert!(sync.status().unwrap().success());
        assert!(started.elapsed().as_millis() >= 10);
    }
}
