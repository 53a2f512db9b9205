//! Usage file: keeps what was used of the budgets across restarts.
//!
//! The file has two slots, which are written in turn, each with a checksum: a power failure may
//! damage the slot that is being written, and never both. What is written survives the death of
//! the process at once, and a power failure once it is synced.

use std::{
    fs::{File, OpenOptions},
    io,
    os::unix::fs::FileExt as _,
    path::{Path, PathBuf},
    sync::Arc,
};

use serde::{Deserialize, Serialize};

use super::budget::Usage;
use crate::file::{self, FileError};

/// Distance of the two slots, so that they share no block of a disk.
const SLOT_BYTES: usize = 4_096;
/// Size of the checksum, and of the length after it.
const PREFIX_BYTES: usize = 4 + 1;

/// The file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum UsageFileError {
    /// An operation on the file failed.
    #[error(transparent)]
    File(#[from] FileError),
    /// Neither slot of the file is readable.
    #[error("{0} is damaged; delete it to start the budgets of this day and month anew")]
    Damaged(PathBuf),
}

/// An open usage file.
#[derive(Debug)]
pub struct UsageFile {
    file: Arc<File>,
    /// Number of the next write; its parity is the slot.
    number: u64,
}

#[derive(Serialize, Deserialize)]
struct StoredUsage {
    number: u64,
    usage: Usage,
}

impl UsageFile {
    /// Opens the file `path`, which is made with `first` in it where there is none. Returns what
    /// was used by the last write.
    pub fn open(path: &Path, first: &Usage) -> Result<(Self, Usage), UsageFileError> {
        if !path.try_exists().map_err(FileError::at(path, "read"))? {
            let slot = encoded(0, first).map_err(FileError::at(path, "written"))?;
            file::write_atomically(path, &slot)?;
        }
        let content = std::fs::read(path).map_err(FileError::at(path, "read"))?;
        let slots = content.chunks(SLOT_BYTES).take(2).filter_map(decoded);
        let Some(last) = slots.max_by_key(|stored| stored.number) else {
            return Err(UsageFileError::Damaged(path.to_owned()));
        };
        let file = OpenOptions::new().write(true).open(path);
        let file = Arc::new(file.map_err(FileError::at(path, "opened"))?);
        Ok((Self { file, number: last.number + 1 }, last.usage))
    }

    /// Writes what was used. It survives the death of the process, but not yet a power failure.
    pub fn write(&mut self, usage: &Usage) -> io::Result<()> {
        let slot = encoded(self.number, usage)?;
        self.file.write_all_at(&slot, (self.number % 2) * SLOT_BYTES as u64)?;
        self.number += 1;
        Ok(())
    }

    /// The file, to be synced on a thread that may block.
    pub fn handle(&self) -> Arc<File> {
        Arc::clone(&self.file)
    }
}

fn encoded(number: u64, usage: &Usage) -> io::Result<Vec<u8>> {
    let stored = StoredUsage { number, usage: *usage };
    let body = postcard::to_extend(&stored, Vec::new()).map_err(io::Error::other)?;
    let length = u8::try_from(body.len()).map_err(io::Error::other)?;
    let mut slot = crc32fast::hash(&body).to_le_bytes().to_vec();
    slot.push(length);
    slot.extend(body);
    Ok(slot)
}

/// What a slot holds; none if it was never written, or not to its end.
fn decoded(slot: &[u8]) -> Option<StoredUsage> {
    let (prefix, rest) = slot.split_at_checked(PREFIX_BYTES)?;
    let (checksum, length) = prefix.split_at(4);
    let body = rest.get(..usize::from(*length.first()?))?;
    if crc32fast::hash(body).to_le_bytes() != checksum {
        return None;
    }
    postcard::from_bytes(body).ok()
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    fn usage(pages: u64) -> Usage {
        let date = "2026-11-20".parse().unwrap();
        Usage { pages, bytes: u64::MAX, month_bytes: u64::MAX, ..Usage::none(date) }
    }

    #[test]
    fn the_largest_numbers_fit_into_a_slot() {
        let mut all = usage(u64::MAX);
        all.others = [Some(all.day()); 4];
        let slot = encoded(u64::MAX, &all).unwrap();
        assert_eq!(decoded(&slot).unwrap().usage, all);
    }

    #[test]
    fn the_last_write_counts_and_a_torn_one_does_not() {
        let dir = TempDir::new().unwrap();
        let path = dir.path().join("usage");
        let (mut file, last) = UsageFile::open(&path, &usage(0)).unwrap();
        assert_eq!(last, usage(0));
        for pages in 1..=6 {
            file.write(&usage(pages)).unwrap();
            // Killed, and started again.
            let last = UsageFile::open(&path, &usage(99)).unwrap().1;
            assert_eq!(last, usage(pages));
        }
        let content = std::fs::read(&path).unwrap();
        for torn in [0, SLOT_BYTES] {
            let mut content = content.clone();
            content[torn + 7] ^= 1;
            std::fs::write(&path, content).unwrap();
            let last = UsageFile::open(&path, &usage(99)).unwrap().1.pages;
            assert_eq!(last, if torn == 0 { 5 } else { 6 });
        }
    }

    #[test]
    fn a_damaged_file_is_refused_by_name() {
        let dir = TempDir::new().unwrap();
        let path = dir.path().join("usage");
        for content in [vec![], vec![0; 3], vec![7; 9_000]] {
            std::fs::write(&path, content).unwrap();
            let error = UsageFile::open(&path, &usage(0)).unwrap_err().to_string();
            assert!(error.contains("usage is damaged; delete it"), "{error}");
        }
    }
}
