//! Files of packages that are not acknowledged.

use std::{
    collections::HashSet,
    io::ErrorKind,
    path::{Path, PathBuf},
};

use super::OutboxError;
use crate::atomic_file;

/// Directory of package files, `NUMBER.ncpk`.
#[derive(Debug, Clone)]
pub(super) struct Files {
    dir: PathBuf,
}

fn failed(attempt: &'static str) -> impl FnOnce(std::io::Error) -> OutboxError {
    move |source| OutboxError::File { attempt, source }
}

impl Files {
    pub(super) fn open(dir: &Path) -> Result<Self, OutboxError> {
        let files = Self { dir: dir.to_owned() };
        std::fs::create_dir_all(files.refused()).map_err(failed("written"))?;
        Ok(files)
    }

    /// Deletes all files but those of the packages `known`.
    pub(super) fn keep_only(&self, known: &HashSet<u64>) -> Result<(), OutboxError> {
        for entry in std::fs::read_dir(&self.dir).map_err(failed("read"))? {
            let path = entry.map_err(failed("read"))?.path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let seq = name.strip_suffix(".ncpk").and_then(|number| number.parse().ok());
            if path.is_file() && seq.is_none_or(|seq| !known.contains(&seq)) {
                std::fs::remove_file(&path).map_err(failed("deleted"))?;
            }
        }
        Ok(())
    }

    pub(super) fn write(&self, seq: u64, bytes: &[u8]) -> Result<(), OutboxError> {
        let written = atomic_file::write(&self.path(seq), bytes, atomic_file::SHARED);
        written.map_err(failed("written"))
    }

    pub(super) fn read(&self, seq: u64) -> Result<Option<Vec<u8>>, OutboxError> {
        match std::fs::read(self.path(seq)) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(failed("read")(error)),
        }
    }

    pub(super) fn delete(&self, seq: u64) -> Result<(), OutboxError> {
        match std::fs::remove_file(self.path(seq)) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(failed("deleted")(error)),
            _ => Ok(()),
        }
    }

    pub(super) fn set_aside(&self, seq: u64) -> Result<(), OutboxError> {
        let target = self.refused().join(format!("{seq}.ncpk"));
        std::fs::rename(self.path(seq), target).map_err(failed("set aside"))
    }

    fn path(&self, seq: u64) -> PathBuf {
        self.dir.join(format!("{seq}.ncpk"))
    }

    fn refused(&self) -> PathBuf {
        self.dir.join("refused")
    }
}
