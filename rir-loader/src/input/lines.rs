//! Numbered lines of a stream, cut in place out of one buffer.

use std::io::{self, Read};

use memchr::memchr;

/// Bytes asked for at a time.
const BLOCK: usize = 256 * 1024;

/// Bytes of the beginning that [`Lines::head`] shows at most.
pub(crate) const MOST_HEAD: usize = 64 * 1024;

/// A line this long has no end that is worth waiting for.
const ENDLESS: u64 = 64 * 1024 * 1024;

/// UTF-8's byte order mark.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// Why a line could not be had.
#[derive(Debug)]
pub(crate) enum LineError {
    /// It is longer than was agreed; [`Lines::skip`] goes on behind it.
    TooLong,
    /// The last line has no end.
    BrokenOff,
    Io(io::Error),
}

/// Numbered lines; only a block of the stream is in memory.
pub(crate) struct Lines<'w> {
    input: Box<dyn Read + 'w>,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    ended: bool,
    number: u64,
    bytes: u64,
    longest: usize,
}

impl<'w> Lines<'w> {
    /// Lines of unpacked text of at most `longest` bytes each.
    pub(crate) fn new(input: Box<dyn Read + 'w>, longest: usize) -> Self {
        let buffer = vec![0; BLOCK.max(longest + 1)];
        Self { input, buffer, start: 0, end: 0, ended: false, number: 0, bytes: 0, longest }
    }

    /// The first bytes, as many as there are up to [`MOST_HEAD`], without taking them; a byte order
    /// mark is passed over. To be asked before the first line.
    pub(crate) fn head(&mut self) -> io::Result<&[u8]> {
        while self.end - self.start < MOST_HEAD && !self.ended {
            self.fill()?;
        }
        if self.rest().starts_with(MARK) {
            self.start += MARK.len();
        }
        Ok(&self.rest()[..MOST_HEAD.min(self.end - self.start)])
    }

    /// From now on lines may have so many bytes; no more than at the beginning.
    pub(crate) fn limit(&mut self, longest: usize) {
        self.longest = self.longest.min(longest);
    }

    /// All that has not been taken yet, as bytes.
    pub(crate) fn into_text(mut self) -> impl Read + 'w {
        self.buffer.truncate(self.end);
        self.buffer.drain(..self.start);
        io::Cursor::new(self.buffer).chain(self.input)
    }

    /// The next line without its end, `None` after the last.
    pub(crate) fn next(&mut self) -> Result<Option<&[u8]>, LineError> {
        let length = self.find_end()?;
        let Some(length) = length else { return Ok(None) };
        let line = self.start..self.start + length;
        self.advance(length + 1);
        self.number += 1;
        let line = &self.buffer[line];
        Ok(Some(line.strip_suffix(b"\r").unwrap_or(line)))
    }

    /// Goes on after a line that is too long; an error when that has no end either. Returns the
    /// first bytes of the line.
    pub(crate) fn skip(&mut self) -> Result<Vec<u8>, LineError> {
        let shown = self.rest()[..self.rest().len().min(80)].to_vec();
        let mut passed = 0_u64;
        loop {
            if let Some(at) = memchr(b'\n', self.rest()) {
                self.advance(at + 1);
                self.number += 1;
                return Ok(shown);
            }
            passed += (self.end - self.start) as u64;
            self.advance(self.end - self.start);
            if passed > ENDLESS {
                return Err(LineError::TooLong);
            }
            if self.ended || self.fill().map_err(LineError::Io)? == 0 {
                return Err(LineError::BrokenOff);
            }
        }
    }

    /// What is there after the last line's end, for whoever can do with a last line that has none.
    pub(crate) fn remainder(&mut self) -> Vec<u8> {
        let rest = self.rest().to_vec();
        self.advance(rest.len());
        rest
    }

    /// Number of the line that was returned last, from 1; 0 before the first.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Bytes of the lines so far.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    fn rest(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    fn advance(&mut self, bytes: usize) {
        self.start += bytes;
        self.bytes += bytes as u64;
    }

    /// Length of the line that begins at `start`, its end left out.
    fn find_end(&mut self) -> Result<Option<usize>, LineError> {
        let mut searched = 0;
        loop {
            let rest = self.rest();
            let found = memchr(b'\n', &rest[searched..]).map(|at| searched + at);
            searched = rest.len();
            match found {
                Some(length) if length <= self.longest => return Ok(Some(length)),
                Some(_) => return Err(self.too_long()),
                None if searched > self.longest => return Err(self.too_long()),
                None if self.ended && searched == 0 => return Ok(None),
                None if self.ended => {
                    self.number += 1;
                    return Err(LineError::BrokenOff);
                }
                None => self.fill().map_err(LineError::Io)?,
            };
        }
    }

    /// The number is that of the line in question, so that an error can name it.
    fn too_long(&mut self) -> LineError {
        self.number += 1;
        LineError::TooLong
    }

    /// Reads once; 0 at the end of the stream.
    fn fill(&mut self) -> io::Result<usize> {
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        loop {
            match self.input.read(&mut self.buffer[self.end..]) {
                Ok(read) => {
                    self.end += read;
                    self.ended = read == 0;
                    return Ok(read);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stream that hands out one byte at a time.
    struct Drip(&'static [u8]);

    impl Read for Drip {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let Some((first, rest)) = self.0.split_first() else { return Ok(0) };
            buffer[0] = *first;
            self.0 = rest;
            Ok(1)
        }
    }

    fn all(mut lines: Lines<'_>) -> (Vec<Vec<u8>>, Vec<u8>) {
        let mut found = vec![];
        loop {
            match lines.next() {
                Ok(Some(line)) => found.push(line.to_vec()),
                Ok(None) => return (found, vec![]),
                Err(LineError::BrokenOff) => return (found, lines.remainder()),
                Err(error) => panic!("{error:?}"),
            }
        }
    }

    #[test]
    fn lines_come_one_by_one_however_the_bytes_come() {
        let text = b"\xef\xbb\xbfone\r\n\ntwo\nthree";
        for input in [Box::new(Drip(text)) as Box<dyn Read>, Box::new(&text[..])] {
            let mut lines = Lines::new(input, 10);
            assert_eq!(lines.head().unwrap(), &text[3..]);
            let (found, rest) = all(lines);
            assert_eq!(found, [&b"one"[..], b"", b"two"]);
            assert_eq!(rest, b"three");
        }
    }

    #[test]
    fn a_long_line_can_be_passed_over() {
        let mut lines = Lines::new(Box::new(&b"12345678\nend\n"[..]), 4);
        assert!(matches!(lines.next(), Err(LineError::TooLong)));
        assert_eq!(lines.skip().unwrap(), b"12345678\nend\n");
        assert_eq!(lines.next().unwrap().unwrap(), b"end");
    }

    #[test]
    fn an_endless_line_is_given_up_in_bounded_memory() {
        let mut lines = Lines::new(Box::new(io::repeat(b'a')), 1024);
        assert!(matches!(lines.next(), Err(LineError::TooLong)));
        assert!(matches!(lines.skip(), Err(LineError::TooLong)));
        assert!(lines.buffer.len() <= BLOCK);
    }
}
