//! The log: every change since the last checkpoint, in the order in which they were applied.
//!
//! A change is written with one `write` before it is applied, so it survives the end of the
//! process. It survives a power failure once the segment is synced, which happens every second and
//! before anything leaves the agent that depends on it. Each checkpoint starts a new segment and
//! deletes the former ones when it is complete.
//!
//! A segment starts with [`MAGIC`] and a [`mark`] of how many bytes of records are synced. Each
//! record has its length, the CRC-32 of length and change, both as little-endian 32-bit integers,
//! and the change in the postcard format. After a power failure the records that were not synced
//! may be incomplete: reading ends there. An incomplete record before the mark is damage.

mod mark;
mod read;

use std::{
    fs::{File, OpenOptions},
    io::Write as _,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{Change, FrontierError};

#[cfg(test)]
pub(super) use read::read;
pub(super) use read::replay;

/// First bytes of a segment; the digit is the version of the format.
const MAGIC: &[u8; 8] = b"nclog 6\n";
/// Bytes before the payload of a record.
const HEADER: usize = 8;

/// The open log.
pub(super) struct Log {
    dir: PathBuf,
    /// Number of the segment to which changes are appended.
    number: u64,
    file: Arc<File>,
    /// Bytes in that segment.
    bytes: u64,
    /// Segments with changes that may not be synced, and the directory after a segment was made.
    unsynced: Vec<Unsynced>,
    record: Vec<u8>,
}

/// A file that must be synced.
pub(super) struct Unsynced {
    file: Arc<File>,
    /// Bytes of records in a segment; none for the directory.
    bytes: Option<u64>,
}

impl Unsynced {
    /// Syncs the file, and marks in a segment what is synced. The mark becomes durable with the
    /// next sync: it never says too much, and a second sync for it alone would not pay.
    pub(super) fn sync(&self) -> std::io::Result<()> {
        self.file.sync_data()?;
        self.bytes.map_or(Ok(()), |bytes| mark::write(&self.file, bytes))
    }
}

impl Log {
    /// Starts a segment with this number.
    pub(super) fn start(dir: &Path, number: u64) -> Result<Self, FrontierError> {
        let file = create(&path(dir, number))?;
        let unsynced = vec![Unsynced { file: directory(dir)?, bytes: None }];
        Ok(Self { dir: dir.to_owned(), number, file, bytes: 0, unsynced, record: Vec::new() })
    }

    pub(super) fn append(&mut self, change: &Change) -> Result<(), FrontierError> {
        self.record.clear();
        self.record.extend_from_slice(&[0; HEADER]);
        self.record = postcard::to_extend(change, std::mem::take(&mut self.record))?;
        let payload = &self.record[HEADER..];
        let length = u32::try_from(payload.len()).map_err(|_| FrontierError::LongChange)?;
        let length = length.to_le_bytes();
        let checksum = checksum(length, payload).to_le_bytes();
        self.record[..4].copy_from_slice(&length);
        self.record[4..HEADER].copy_from_slice(&checksum);
        (&*self.file).write_all(&self.record).map_err(|error| self.failed(error))?;
        self.bytes += self.record.len() as u64;
        let bytes = Some(self.bytes);
        match self.unsynced.last_mut().filter(|last| Arc::ptr_eq(&last.file, &self.file)) {
            Some(last) => last.bytes = bytes,
            None => self.unsynced.push(Unsynced { file: Arc::clone(&self.file), bytes }),
        }
        Ok(())
    }

    /// Starts the next segment and returns its number.
    pub(super) fn rotate(&mut self) -> Result<u64, FrontierError> {
        let number = self.number + 1;
        self.file = create(&path(&self.dir, number))?;
        self.unsynced.push(Unsynced { file: directory(&self.dir)?, bytes: None });
        self.number = number;
        self.bytes = 0;
        Ok(number)
    }

    /// Bytes of the current segment.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Takes the files that must be synced for all changes so far to be durable.
    pub(super) fn take_unsynced(&mut self) -> Vec<Unsynced> {
        std::mem::take(&mut self.unsynced)
    }

    /// Whether no file has to be synced.
    #[cfg(test)]
    pub(super) fn is_synced(&self) -> bool {
        self.unsynced.is_empty()
    }

    fn failed(&self, source: std::io::Error) -> FrontierError {
        FrontierError::Log { path: path(&self.dir, self.number), source }
    }
}

fn create(path: &Path) -> Result<Arc<File>, FrontierError> {
    let open = || {
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).open(path)?;
        file.write_all(MAGIC)?;
        file.write_all(&mark::encode(0))?;
        Ok(Arc::new(file))
    };
    open().map_err(|source| FrontierError::Log { path: path.to_owned(), source })
}

/// The directory, as a file to sync: without that, a power failure may take the name of a segment.
fn directory(dir: &Path) -> Result<Arc<File>, FrontierError> {
    let opened = File::open(dir).map(Arc::new);
    opened.map_err(|source| FrontierError::Log { path: dir.to_owned(), source })
}

/// Path of a segment.
pub(super) fn path(dir: &Path, number: u64) -> PathBuf {
    dir.join(format!("log-{number:010}"))
}

/// Numbers of the segments in a directory, in rising order.
pub(super) fn segments(dir: &Path) -> Result<Vec<u64>, FrontierError> {
    let failed = |source| FrontierError::Log { path: dir.to_owned(), source };
    let mut numbers = Vec::new();
    for entry in std::fs::read_dir(dir).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name();
        let number = name.to_str().and_then(|name| name.strip_prefix("log-"));
        numbers.extend(number.and_then(|number| number.parse::<u64>().ok()));
    }
    numbers.sort_unstable();
    Ok(numbers)
}

/// Deletes a segment.
pub(super) fn delete(dir: &Path, number: u64) -> Result<(), FrontierError> {
    let path = path(dir, number);
    std::fs::remove_file(&path).map_err(|source| FrontierError::Log { path, source })
}

/// The length is included, so that a tail of zeros, which a power failure may leave, is no record.
fn checksum(length: [u8; 4], payload: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&length);
    hasher.update(payload);
    hasher.finalize()
}
