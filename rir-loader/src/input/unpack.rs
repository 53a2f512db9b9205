//! A file or standard input to the texts in it.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;
use zip::ZipArchive;
use zip::read::{ZipFile, read_zipfile_from_stream};

use super::ahead::Ahead;
use super::guard::{Counted, Guarded, Stored, Told};
use crate::watch::{Step, Watch};

/// What stands for standard input on a command line.
pub(crate) const STDIN: &str = "-";

const BUFFER: usize = 256 * 1024;

/// RFC 1952, section 2.3.1.
const GZIP: &[u8] = &[0x1f, 0x8b];
/// APPNOTE.TXT, section 4.3.7.
const ZIP: &[u8] = b"PK\x03\x04";

/// A text of a file: its name inside an archive, and its unpacked bytes.
pub(crate) type Take<'t, E> = &'t mut dyn FnMut(Option<&str>, Box<dyn Read + '_>) -> Result<(), E>;

/// Whether the path stands for standard input.
pub(crate) fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == STDIN
}

/// Hands out each text of a file: itself, what it unpacks to, or every member of a zip that is not
/// empty.
pub(crate) fn each_text<E: From<io::Error>>(
    path: &Path,
    watch: Watch<'_>,
    take: Take<'_, E>,
) -> Result<(), E> {
    let stored = Stored::default();
    if is_stdin(path) {
        watch(Step::File { name: "standard input", bytes: None, there: 0 });
        return unpack(
            Counted { inner: io::stdin(), stored: stored.clone() },
            &stored,
            watch,
            take,
        );
    }
    let mut file = File::open(path)?;
    let meta = file.metadata()?;
    if meta.is_dir() {
        return Err(io::Error::from(io::ErrorKind::IsADirectory).into());
    }
    let name =
        path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    watch(Step::File { name: &name, bytes: meta.is_file().then_some(meta.len()), there: 0 });
    // The table of a zip is at its end: a file can be asked for it, a pipe cannot.
    let zip = meta.is_file() && begins_with_zip(&mut file)?;
    let counted = Counted { inner: file, stored: stored.clone() };
    if zip { members(counted, &stored, watch, take) } else { unpack(counted, &stored, watch, take) }
}

/// The texts of any stream.
pub(crate) fn unpack_stream<E: From<io::Error>>(
    stream: impl Read,
    take: Take<'_, E>,
) -> Result<(), E> {
    let stored = Stored::default();
    let mut stream =
        BufReader::with_capacity(BUFFER, Counted { inner: stream, stored: stored.clone() });
    let first = stream.fill_buf()?;
    if first.starts_with(GZIP) {
        return take(None, Box::new(Guarded::new(MultiGzDecoder::new(stream), stored, 0)));
    }
    if first.starts_with(ZIP) {
        return streamed_members(stream, &stored, &|_| {}, take);
    }
    take(None, Box::new(stream))
}

/// The texts of a stream that may be handed to another thread to be unpacked.
fn unpack<E: From<io::Error>>(
    stream: impl Read + Send + 'static,
    stored: &Stored,
    watch: Watch<'_>,
    take: Take<'_, E>,
) -> Result<(), E> {
    let mut stream = BufReader::with_capacity(BUFFER, stream);
    let first = stream.fill_buf()?;
    if first.starts_with(GZIP) {
        let ahead = Ahead::of(Guarded::new(MultiGzDecoder::new(stream), stored.clone(), 0))?;
        return take(None, told(ahead, stored, watch));
    }
    if first.starts_with(ZIP) {
        return streamed_members(stream, stored, watch, take);
    }
    take(None, told(stream, stored, watch))
}

fn told<'r>(inner: impl Read + 'r, stored: &Stored, watch: Watch<'r>) -> Box<dyn Read + 'r> {
    Box::new(Told { inner, stored: stored.clone(), done: 0, watch })
}

fn begins_with_zip(file: &mut File) -> io::Result<bool> {
    use std::io::Seek;
    let mut first = vec![];
    file.take(ZIP.len() as u64).read_to_end(&mut first)?;
    file.rewind()?;
    Ok(first == ZIP)
}

fn members<E: From<io::Error>>(
    counted: Counted<File>,
    stored: &Stored,
    watch: Watch<'_>,
    take: Take<'_, E>,
) -> Result<(), E> {
    let mut archive =
        ZipArchive::new(BufReader::with_capacity(BUFFER, counted)).map_err(io::Error::from)?;
    for place in 0..archive.len() {
        let member = archive.by_index(place).map_err(io::Error::from)?;
        one_member(member, stored, watch, take)?;
    }
    Ok(())
}

/// The members of a zip in the order of the stream.
fn streamed_members<E: From<io::Error>>(
    mut stream: impl Read,
    stored: &Stored,
    watch: Watch<'_>,
    take: Take<'_, E>,
) -> Result<(), E> {
    while let Some(member) = read_zipfile_from_stream(&mut stream).map_err(io::Error::from)? {
        one_member(member, stored, watch, take)?;
    }
    Ok(())
}

fn one_member<E: From<io::Error>, R: Read>(
    member: ZipFile<'_, R>,
    stored: &Stored,
    watch: Watch<'_>,
    take: Take<'_, E>,
) -> Result<(), E> {
    if member.is_dir() || member.size() == 0 {
        return Ok(());
    }
    let name = member.name().map_err(io::Error::from)?.into_owned();
    let before = stored.get();
    let inner = Guarded::new(member, stored.clone(), before);
    take(Some(&name), Box::new(Told { inner, stored: stored.clone(), done: before, watch }))
}
