//! The part of a stream that is in memory, so that the parser can point into it instead of copying
//! every tag.

use std::io::{self, Read};

/// Bytes asked for at a time.
const BLOCK: usize = 256 * 1024;

/// A sliding window over a stream.
pub(super) struct Window<R> {
    stream: R,
    bytes: Vec<u8>,
    /// What has not been passed yet is `bytes[start..end]`.
    start: usize,
    end: usize,
    ended: bool,
}

impl<R: Read> Window<R> {
    pub(super) fn new(stream: R) -> Self {
        Self { stream, bytes: vec![], start: 0, end: 0, ended: false }
    }

    /// What was read and not passed yet.
    pub(super) fn rest(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    /// Whether nothing comes behind the rest.
    pub(super) fn is_last(&self) -> bool {
        self.ended
    }

    /// These bytes of the rest are done with.
    pub(super) fn pass(&mut self, bytes: usize) {
        self.start = self.end.min(self.start + bytes);
    }

    /// Puts a block behind the rest, or less at the end of the stream. The rest is parsed again
    /// after this, so that a stream that comes in drips is waited for.
    pub(super) fn fill(&mut self) -> io::Result<()> {
        self.bytes.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        let wanted = self.end + BLOCK;
        if self.bytes.len() < wanted {
            self.bytes.resize(wanted, 0);
        }
        while self.end < wanted && !self.ended {
            match self.stream.read(&mut self.bytes[self.end..wanted]) {
                Ok(read) => {
                    self.end += read;
                    self.ended = read == 0;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_passed_stays_before_what_comes() {
        let bytes: Vec<u8> = (0..2 * BLOCK + 5).map(|place| place as u8).collect();
        let mut window = Window::new(&bytes[..]);
        window.fill().unwrap();
        window.pass(BLOCK - 3);
        window.fill().unwrap();
        assert_eq!(window.rest(), &bytes[BLOCK - 3..2 * BLOCK]);
        window.pass(BLOCK);
        assert!(!window.is_last());
        window.fill().unwrap();
        assert_eq!((window.rest(), window.is_last()), (&bytes[2 * BLOCK - 3..], true));
    }
}
