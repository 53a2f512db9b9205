//! Stops an archive that unpacks to far more than a registry's file ever does.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::watch::{Step, Watch};

/// Unpacked bytes for each stored one. Dumps have about 8 to 12, generated ones up to 30.
const MOST_RATIO: u64 = 200;
/// Below this the ratio says nothing.
const FREE: u64 = 64 * 1024 * 1024;

/// The archive is no registry's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "it unpacks to more than {MOST_RATIO} times its size, which no registry's file does; it may be made to fill memory"
)]
pub(crate) struct Bomb;

/// How many bytes were read as they are stored.
#[derive(Debug, Clone, Default)]
pub(super) struct Stored(Arc<AtomicU64>);

impl Stored {
    pub(super) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Counts what is read of the stored bytes.
pub(super) struct Counted<R> {
    pub(super) inner: R,
    pub(super) stored: Stored,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.stored.0.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

/// Tells whoever waits how much of the stored bytes is done.
pub(super) struct Told<'w, R> {
    pub(super) inner: R,
    pub(super) stored: Stored,
    pub(super) done: u64,
    pub(super) watch: Watch<'w>,
}

impl<R: Read> Read for Told<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        let stored = self.stored.get();
        if stored > self.done {
            (self.watch)(Step::Bytes(stored - self.done));
            self.done = stored;
        }
        Ok(read)
    }
}

impl Seek for Counted<File> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.inner.seek(to)
    }
}

/// Compares what comes out with what went in.
pub(super) struct Guarded<R> {
    inner: R,
    stored: Stored,
    before: u64,
    unpacked: u64,
}

impl<R: Read> Guarded<R> {
    /// `before` is how much was stored before what is unpacked here.
    pub(super) fn new(inner: R, stored: Stored, before: u64) -> Self {
        Self { inner, stored, before, unpacked: 0 }
    }
}

impl<R: Read> Read for Guarded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.unpacked += read as u64;
        let stored = self.stored.get().saturating_sub(self.before);
        if is_bomb(stored, self.unpacked) { Err(io::Error::other(Bomb)) } else { Ok(read) }
    }
}

fn is_bomb(stored: u64, unpacked: u64) -> bool {
    unpacked > FREE && unpacked > stored.saturating_mul(MOST_RATIO)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_registry_packs_is_let_through() {
        assert!(!is_bomb(300_000_000, 3_000_000_000));
        assert!(!is_bomb(1_000, FREE));
        assert!(is_bomb(1_000, FREE + 1));
        assert!(is_bomb(10_000_000, 10_000_000_000));
    }
}
