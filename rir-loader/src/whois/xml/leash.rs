//! A stream that lets go of a tag that does not end.

use std::cell::Cell;
use std::io::{self, BufRead, BufReader, Read};
use std::rc::Rc;

use crate::text_error::TextError;

/// Bytes of the longest tag or text.
const LONGEST: u64 = 1024 * 1024;

/// Where the reading is, seen from outside.
#[derive(Debug, Clone, Default)]
pub(super) struct Progress(Rc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    bytes: Cell<u64>,
    newlines: Cell<u64>,
    since: Cell<u64>,
}

impl Progress {
    /// A tag has ended, another begins.
    pub(super) fn let_go(&self) {
        self.0.since.set(0);
    }

    pub(super) fn bytes(&self) -> u64 {
        self.0.bytes.get()
    }

    /// The line that is being read.
    pub(super) fn line(&self) -> u64 {
        self.0.newlines.get() + 1
    }

    /// An error of the parser in our words.
    pub(super) fn error(&self, error: quick_xml::Error) -> TextError {
        match error {
            quick_xml::Error::Io(source) => {
                let source = io::Error::new(source.kind(), source.to_string());
                TextError::Read { line: self.line(), source }
            }
            quick_xml::Error::Syntax(_) | quick_xml::Error::IllFormed(_) => {
                TextError::Markup { at: self.bytes(), why: error.to_string() }
            }
            other => TextError::Markup { at: self.bytes(), why: other.to_string() },
        }
    }
}

pub(super) struct Leash<R> {
    inner: BufReader<R>,
    progress: Progress,
}

impl<R: Read> Leash<R> {
    pub(super) fn new(inner: R, progress: Progress) -> Self {
        Self { inner: BufReader::with_capacity(256 * 1024, inner), progress }
    }
}

impl<R: Read> Read for Leash<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let available = self.fill_buf()?;
        let length = available.len().min(buffer.len());
        buffer[..length].copy_from_slice(&available[..length]);
        self.consume(length);
        Ok(length)
    }
}

impl<R: Read> BufRead for Leash<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.progress.0.since.get() > LONGEST {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "a tag or a text of more than 1 MiB"));
        }
        self.inner.fill_buf()
    }

    fn consume(&mut self, bytes: usize) {
        let counts = &self.progress.0;
        let passed = &self.inner.buffer()[..bytes];
        counts.newlines.set(counts.newlines.get() + memchr::memchr_iter(b'\n', passed).count() as u64);
        counts.bytes.set(counts.bytes.get() + bytes as u64);
        counts.since.set(counts.since.get() + bytes as u64);
        self.inner.consume(bytes);
    }
}
