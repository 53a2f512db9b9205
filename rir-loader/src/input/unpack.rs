//! Unpacks gzip and zip files as streams.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use std::rc::Rc;

use flate2::bufread::MultiGzDecoder;
use zip::ZipArchive;
use zip::read::{ZipFile, read_zipfile_from_stream};

use crate::progress::{Progress, Step};

/// Path that means standard input.
const STDIN: &str = "-";

const BUFFER: usize = 256 * 1024;

/// RFC 1952, section 2.3.1.
const GZIP: &[u8] = &[0x1f, 0x8b];
/// APPNOTE.TXT, section 4.3.7.
const ZIP: &[u8] = b"PK\x03\x04";

/// Highest accepted ratio of unpacked to stored bytes. Dumps have 8 to 12.
const MAX_RATIO: u64 = 200;
/// Unpacked bytes below which the ratio is not checked: a short text may pack very well.
const UNCHECKED_BYTES: u64 = 64 * 1024 * 1024;

/// Receives the name of a text inside an archive, `None` for a plain or gzip file, and the text.
type Handler<'h, E> = &'h mut dyn FnMut(Option<&str>, Box<dyn BufRead + '_>) -> Result<(), E>;

/// Whether the path means standard input.
pub(crate) fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == STDIN
}

/// Passes every text of a file to `handler`: the file itself, its unpacked content, or each member
/// of a zip archive that is not empty.
pub(crate) fn for_each_text<E: From<io::Error>>(
    path: &Path,
    progress: Progress<'_>,
    handler: Handler<'_, E>,
) -> Result<(), E> {
    let stored = StoredBytes::default();
    if is_stdin(path) {
        progress(Step::File { name: "standard input", bytes: None, present: 0 });
        let input = CountingReader { inner: io::stdin(), stored: stored.clone() };
        return unpack_stream(input, &stored, progress, handler);
    }
    let mut file = File::open(path)?;
    let meta = file.metadata()?;
    if meta.is_dir() {
        return Err(io::Error::from(io::ErrorKind::IsADirectory).into());
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    progress(Step::File { name: &name, bytes: meta.is_file().then_some(meta.len()), present: 0 });
    // A regular file can seek to the directory at the end of a zip archive, a pipe cannot.
    let is_zip = meta.is_file() && starts_with_zip(&mut file)?;
    let input = CountingReader { inner: file, stored: stored.clone() };
    if is_zip {
        unpack_zip_file(input, &stored, progress, handler)
    } else {
        unpack_stream(input, &stored, progress, handler)
    }
}

fn starts_with_zip(file: &mut File) -> io::Result<bool> {
    let mut first = vec![];
    file.take(ZIP.len() as u64).read_to_end(&mut first)?;
    file.rewind()?;
    Ok(first == ZIP)
}

fn unpack_stream<E: From<io::Error>>(
    input: impl Read,
    stored: &StoredBytes,
    progress: Progress<'_>,
    handler: Handler<'_, E>,
) -> Result<(), E> {
    let mut input = BufReader::with_capacity(BUFFER, input);
    let first = input.fill_buf()?;
    if first.starts_with(GZIP) {
        handler(None, UnpackedReader::buffered(MultiGzDecoder::new(input), 0, stored, progress))
    } else if first.starts_with(ZIP) {
        while let Some(member) = read_zipfile_from_stream(&mut input).map_err(io::Error::from)? {
            unpack_member(member, stored, progress, handler)?;
        }
        Ok(())
    } else {
        handler(None, UnpackedReader::buffered(input, 0, stored, progress))
    }
}

fn unpack_zip_file<E: From<io::Error>>(
    input: CountingReader<File>,
    stored: &StoredBytes,
    progress: Progress<'_>,
    handler: Handler<'_, E>,
) -> Result<(), E> {
    let input = BufReader::with_capacity(BUFFER, input);
    let mut archive = ZipArchive::new(input).map_err(io::Error::from)?;
    for index in 0..archive.len() {
        let member = archive.by_index(index).map_err(io::Error::from)?;
        unpack_member(member, stored, progress, handler)?;
    }
    Ok(())
}

fn unpack_member<E: From<io::Error>, R: Read>(
    member: ZipFile<'_, R>,
    stored: &StoredBytes,
    progress: Progress<'_>,
    handler: Handler<'_, E>,
) -> Result<(), E> {
    if member.is_dir() || member.size() == 0 {
        return Ok(());
    }
    let name = member.name().map_err(io::Error::from)?.into_owned();
    handler(Some(&name), UnpackedReader::buffered(member, stored.get(), stored, progress))
}

/// Bytes read so far of a file as it is stored.
type StoredBytes = Rc<Cell<u64>>;

/// Counts what is read of a file before it is unpacked.
struct CountingReader<R> {
    inner: R,
    stored: StoredBytes,
}

impl<R: Read> Read for CountingReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.stored.set(self.stored.get() + read as u64);
        Ok(read)
    }
}

impl Seek for CountingReader<File> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.inner.seek(to)
    }
}

/// Reports progress in stored bytes and stops at an archive made to fill the memory.
struct UnpackedReader<'p, R> {
    inner: R,
    stored: StoredBytes,
    /// Stored bytes of the archive before this text.
    start: u64,
    reported: u64,
    unpacked: u64,
    progress: Progress<'p>,
}

impl<'p, R: Read + 'p> UnpackedReader<'p, R> {
    fn buffered(
        inner: R,
        start: u64,
        stored: &StoredBytes,
        progress: Progress<'p>,
    ) -> Box<dyn BufRead + 'p> {
        let stored = stored.clone();
        let reader = Self { inner, stored, start, reported: start, unpacked: 0, progress };
        Box::new(BufReader::with_capacity(BUFFER, reader))
    }
}

impl<R: Read> Read for UnpackedReader<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        let stored = self.stored.get();
        if stored > self.reported {
            (self.progress)(Step::Bytes(stored - self.reported));
            self.reported = stored;
        }
        self.unpacked += read as u64;
        if is_archive_bomb(stored.saturating_sub(self.start), self.unpacked) {
            let message = format!("it unpacks to more than {MAX_RATIO} times its size");
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        Ok(read)
    }
}

fn is_archive_bomb(stored: u64, unpacked: u64) -> bool {
    unpacked > UNCHECKED_BYTES && unpacked > stored.saturating_mul(MAX_RATIO)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ratio_of_registry_files_is_accepted() {
        assert!(!is_archive_bomb(300_000_000, 3_000_000_000));
        assert!(!is_archive_bomb(1_000, UNCHECKED_BYTES));
        assert!(is_archive_bomb(1_000, UNCHECKED_BYTES + 1));
        assert!(is_archive_bomb(10_000_000, 10_000_000_000));
    }
}
