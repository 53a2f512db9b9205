//! Files of packages that are not acknowledged.

use std::{
    collections::HashSet,
    io::ErrorKind,
    path::{Path, PathBuf},
};

use crate::file::{self, FileError};

/// Directory of package files, `NUMBER.ncpk`.
#[derive(Debug, Clone)]
pub(super) struct Files {
    dir: PathBuf,
}

impl Files {
    pub(super) fn open(dir: &Path) -> Result<Self, FileError> {
        let files = Self { dir: dir.to_owned() };
        file::private_dir(dir)?;
        file::private_dir(&files.refused())?;
        Ok(files)
    }

    /// Deletes all files but those of the packages `known`.
    pub(super) fn keep_only(&self, known: &HashSet<u64>) -> Result<(), FileError> {
        for entry in std::fs::read_dir(&self.dir).map_err(FileError::at(&self.dir, "read"))? {
            let path = entry.map_err(FileError::at(&self.dir, "read"))?.path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let seq = name.strip_suffix(".ncpk").and_then(|number| number.parse().ok());
            if path.is_file() && seq.is_none_or(|seq| !known.contains(&seq)) {
                std::fs::remove_file(&path).map_err(FileError::at(&path, "deleted"))?;
            }
        }
        Ok(())
    }

    pub(super) fn write(&self, seq: u64, bytes: &[u8]) -> Result<(), FileError> {
        file::write_atomically(&self.path(seq), bytes)
    }

    pub(super) fn read(&self, seq: u64) -> Result<Option<Vec<u8>>, FileError> {
        let path = self.path(seq);
        match std::fs::read(&path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(FileError::at(&path, "read")(error)),
        }
    }

    pub(super) fn delete(&self, seq: u64) -> Result<(), FileError> {
        let path = self.path(seq);
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(FileError::at(&path, "deleted")(error))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn set_aside(&self, seq: u64) -> Result<(), FileError> {
        let path = self.path(seq);
        let target = self.refused().join(format!("{seq}.ncpk"));
        std::fs::rename(&path, target).map_err(FileError::at(&path, "set aside"))
    }

    fn path(&self, seq: u64) -> PathBuf {
        self.dir.join(format!("{seq}.ncpk"))
    }

    fn refused(&self) -> PathBuf {
        self.dir.join("refused")
    }
}
