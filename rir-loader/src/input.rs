//! A file as a stream of lines, plain or gzip, in bounded memory.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;

use crate::watch::{Step, Watch};

/// Longest line, in bytes. Records have about 100; only comments come near this.
pub(crate) const LONGEST_LINE: usize = 8 * 1024;

const BUFFER: usize = 128 * 1024;

/// RFC 1952, section 2.3.1.
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Why a line could not be had.
#[derive(Debug)]
pub(crate) enum LineError {
    TooLong,
    /// The last line has no end.
    BrokenOff,
    Io(io::Error),
}

/// Numbered lines of a stream; only the current one is in memory.
pub(crate) struct Lines<'w> {
    input: Box<dyn BufRead + 'w>,
    line: Vec<u8>,
    number: u64,
}

impl<'w> Lines<'w> {
    /// Opens a file; whether it is compressed is told by its first bytes, not by its name.
    pub(crate) fn open(path: &Path, watch: Watch<'w>) -> io::Result<Self> {
        let file = File::open(path)?;
        let meta = file.metadata()?;
        if meta.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        watch(Step::File { name: &name, bytes: Some(meta.len()), there: 0 });
        Self::new(Watched { file, watch })
    }

    /// Lines of any stream, plain or gzip.
    pub(crate) fn new(stream: impl Read + 'w) -> io::Result<Self> {
        let mut stored = BufReader::with_capacity(BUFFER, stream);
        let compressed = stored.fill_buf()?.starts_with(&GZIP_MAGIC);
        let input: Box<dyn BufRead + 'w> = if compressed {
            Box::new(BufReader::with_capacity(BUFFER, MultiGzDecoder::new(stored)))
        } else {
            Box::new(stored)
        };
        Ok(Self { input, line: Vec::new(), number: 0 })
    }

    /// The next line without its end, `None` after the last.
    pub(crate) fn next(&mut self) -> Result<Option<&[u8]>, LineError> {
        self.line.clear();
        let most = LONGEST_LINE as u64 + 1;
        let read = (&mut self.input).take(most).read_until(b'\n', &mut self.line).map_err(LineError::Io)?;
        if read == 0 {
            return Ok(None);
        }
        self.number += 1;
        let Some(line) = self.line.strip_suffix(b"\n") else {
            return Err(if read > LONGEST_LINE { LineError::TooLong } else { LineError::BrokenOff });
        };
        Ok(Some(line.strip_suffix(b"\r").unwrap_or(line)))
    }

    /// Number of the line that was returned last, from 1; 0 before the first.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }
}

/// Tells how much was read of the file as it is stored.
struct Watched<'w> {
    file: File,
    watch: Watch<'w>,
}

impl Read for Watched<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(buffer)?;
        (self.watch)(Step::Bytes(read as u64));
        Ok(read)
    }
}
