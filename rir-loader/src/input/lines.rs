//! Numbered lines of a text.

use std::io::{self, BufRead, Read};

use crate::text_error::TextError;

/// A file whose line is longer than this is refused; shorter overlong lines are only skipped.
const UNREADABLE_LINE: usize = 64 * 1024 * 1024;

/// Bytes of an overlong line that are kept for the report.
const EXCERPT: usize = 400;

/// A line without its line end.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line<'a> {
    Complete(&'a [u8]),
    /// The text ends without a line end: it may have been cut short.
    Unterminated(&'a [u8]),
    /// The beginning of a line longer than the limit; the rest was skipped.
    Overlong(&'a [u8]),
}

/// Reads numbered lines of at most `limit` bytes.
pub(crate) struct Lines<R> {
    input: R,
    limit: usize,
    line: Vec<u8>,
    number: u64,
}

impl<R: BufRead> Lines<R> {
    pub(crate) fn new(input: R, limit: usize) -> Self {
        Self { input, limit, line: vec![], number: 0 }
    }

    /// The next line, `None` at the end of the text.
    pub(crate) fn next(&mut self) -> Result<Option<Line<'_>>, TextError> {
        self.line.clear();
        // Two bytes more than the limit, for `\r\n`.
        let read = self.read_up_to(self.limit + 2)?;
        if read == 0 {
            return Ok(None);
        }
        self.number += 1;
        if self.line.pop_if(|byte| *byte == b'\n').is_some() {
            self.line.pop_if(|byte| *byte == b'\r');
            if self.line.len() <= self.limit {
                return Ok(Some(Line::Complete(&self.line)));
            }
        } else if self.line.len() <= self.limit {
            return Ok(Some(Line::Unterminated(&self.line)));
        } else {
            self.skip_rest()?;
        }
        self.line.truncate(EXCERPT);
        Ok(Some(Line::Overlong(&self.line)))
    }

    fn read_up_to(&mut self, bytes: usize) -> Result<usize, TextError> {
        let read = self.input.by_ref().take(bytes as u64).read_until(b'\n', &mut self.line);
        read.map_err(|source| TextError::Read { line: self.number, source })
    }

    /// Skips the rest of an overlong line in steps, so that memory stays bounded.
    fn skip_rest(&mut self) -> Result<(), TextError> {
        let mut skipped = 0;
        loop {
            self.line.truncate(EXCERPT);
            let read = self.read_up_to(self.limit)?;
            skipped += read;
            if read == 0 {
                return Err(TextError::LongLine { line: self.number, limit: self.limit });
            }
            if self.line.pop_if(|byte| *byte == b'\n').is_some() {
                return Ok(());
            }
            if skipped > UNREADABLE_LINE {
                return Err(TextError::LongLine { line: self.number, limit: UNREADABLE_LINE });
            }
        }
    }
}

/// The beginning of a text, to recognise its format, and the whole text; a byte order mark is
/// removed.
pub(crate) fn split_head<R: BufRead>(
    mut input: R,
    bytes: u64,
) -> io::Result<(Vec<u8>, impl BufRead)> {
    const UTF8_MARK: &[u8] = b"\xef\xbb\xbf";
    let mut head = vec![];
    input.by_ref().take(bytes).read_to_end(&mut head)?;
    if head.starts_with(UTF8_MARK) {
        head.drain(..UTF8_MARK.len());
    }
    let whole = io::Cursor::new(head.clone()).chain(input);
    Ok((head, whole))
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    /// A stream that returns one byte at a time.
    struct OneByteReader(&'static [u8]);

    impl Read for OneByteReader {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let Some((first, rest)) = self.0.split_first() else { return Ok(0) };
            buffer[0] = *first;
            self.0 = rest;
            Ok(1)
        }
    }

    #[test]
    fn lines_are_the_same_however_the_bytes_arrive() {
        let text = b"\xef\xbb\xbfone\r\n\ntwo\nthree";
        for input in [Box::new(OneByteReader(text)) as Box<dyn Read>, Box::new(&text[..])] {
            let (head, input) = split_head(BufReader::new(input), 1000).unwrap();
            assert_eq!(head, &text[3..]);
            let mut lines = Lines::new(input, 10);
            for expected in [&b"one"[..], b"", b"two"] {
                assert_eq!(lines.next().unwrap(), Some(Line::Complete(expected)));
            }
            assert_eq!(lines.next().unwrap(), Some(Line::Unterminated(b"three")));
            assert_eq!(lines.next().unwrap(), None);
        }
    }

    #[test]
    fn an_overlong_line_is_skipped() {
        let mut lines = Lines::new(&b"12345678\n1234\r\n12345\n1234567"[..], 4);
        assert_eq!(lines.next().unwrap(), Some(Line::Overlong(b"12345678")));
        assert_eq!(lines.next().unwrap(), Some(Line::Complete(b"1234")));
        assert_eq!(lines.next().unwrap(), Some(Line::Overlong(b"12345")));
        assert!(matches!(lines.next(), Err(TextError::LongLine { line: 4, .. })));
    }

    #[test]
    fn an_endless_line_is_refused_in_bounded_memory() {
        let mut lines = Lines::new(BufReader::new(io::repeat(b'a')), 1024);
        assert!(matches!(lines.next(), Err(TextError::LongLine { line: 1, .. })));
        assert!(lines.line.capacity() <= 8 * 1024);
    }
}
