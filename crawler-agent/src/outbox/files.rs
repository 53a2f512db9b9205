//! Files of packages or bundles that are not acknowledged.

use std::{
    collections::HashSet,
    io::ErrorKind,
    path::{Path, PathBuf},
};

use crate::file::{self, FileError};

/// Directory of files `NUMBER.EXTENSION`.
#[derive(Debug, Clone)]
pub(super) struct Files {
    dir: PathBuf,
    extension: &'static str,
}

impl Files {
    pub(super) fn open(dir: &Path, extension: &'static str) -> Result<Self, FileError> {
        let files = Self { dir: dir.to_owned(), extension };
        file::private_dir(dir)?;
        file::private_dir(&files.refused())?;
        Ok(files)
    }

    /// Deletes all files but those with the numbers `known`.
    pub(super) fn keep_only(&self, known: &HashSet<u64>) -> Result<(), FileError> {
        for entry in std::fs::read_dir(&self.dir).map_err(FileError::at(&self.dir, "read"))? {
            let path = entry.map_err(FileError::at(&self.dir, "read"))?.path();
            if path.is_file() && self.number(&path).is_none_or(|number| !known.contains(&number)) {
                std::fs::remove_file(&path).map_err(FileError::at(&path, "deleted"))?;
            }
        }
        Ok(())
    }

    /// Numbers of the files, in rising order.
    pub(super) fn numbers(&self) -> Result<Vec<u64>, FileError> {
        let mut numbers = Vec::new();
        for entry in std::fs::read_dir(&self.dir).map_err(FileError::at(&self.dir, "read"))? {
            let path = entry.map_err(FileError::at(&self.dir, "read"))?.path();
            numbers.extend(self.number(&path).filter(|_| path.is_file()));
        }
        numbers.sort_unstable();
        Ok(numbers)
    }

    /// The number in the name of a file; none where the file is another one.
    fn number(&self, path: &Path) -> Option<u64> {
        let is_ours = path.extension().is_some_and(|extension| extension == self.extension);
        path.file_stem().filter(|_| is_ours)?.to_str()?.parse().ok()
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
        let target = self.refused().join(self.name(seq));
        std::fs::rename(&path, target).map_err(FileError::at(&path, "set aside"))
    }

    fn path(&self, seq: u64) -> PathBuf {
        self.dir.join(self.name(seq))
    }

    fn name(&self, seq: u64) -> String {
        format!("{seq}.{}", self.extension)
    }

    fn refused(&self) -> PathBuf {
        self.dir.join("refused")
    }
}
