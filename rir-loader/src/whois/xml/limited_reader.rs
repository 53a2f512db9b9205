//! Bounds what the parser may read for one event, and counts lines.

use std::io::{self, BufRead, Read};

/// Longest tag or text in bytes.
const MAX_EVENT: usize = 1024 * 1024;

/// The parser collects a tag or a text in memory until it has found its end, so a document without
/// one would fill the memory.
pub(super) struct LimitedReader<R> {
    inner: R,
    allowed: usize,
    newlines: u64,
}

impl<R: BufRead> LimitedReader<R> {
    pub(super) fn new(inner: R) -> Self {
        Self { inner, allowed: MAX_EVENT, newlines: 0 }
    }

    pub(super) fn allow_next_event(&mut self) {
        self.allowed = MAX_EVENT;
    }

    /// Number of the line that is being read, from 1.
    pub(super) fn line(&self) -> u64 {
        self.newlines + 1
    }
}

impl<R: BufRead> BufRead for LimitedReader<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.allowed == 0 {
            let message = "a tag or a text of more than 1 MiB";
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        let buffer = self.inner.fill_buf()?;
        Ok(&buffer[..buffer.len().min(self.allowed)])
    }

    fn consume(&mut self, bytes: usize) {
        // What is consumed is still in the buffer, so this neither reads nor fails.
        if let Ok(buffer) = self.inner.fill_buf() {
            let consumed = &buffer[..bytes.min(buffer.len())];
            self.newlines += memchr::memchr_iter(b'\n', consumed).count() as u64;
        }
        self.allowed = self.allowed.saturating_sub(bytes);
        self.inner.consume(bytes);
    }
}

impl<R: BufRead> Read for LimitedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut available = self.fill_buf()?;
        let read = available.read(buffer)?;
        self.consume(read);
        Ok(read)
    }
}
