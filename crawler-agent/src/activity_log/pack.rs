//! Packing: files of ended days are compressed, so that the log of a fast crawl leaves the room of
//! the data directory to packages and the frontier.

use std::{
    fs::{self, File},
    io::{self, BufRead as _},
    path::{Path, PathBuf},
};

use jiff::civil::Date;

use super::read;

/// Level of the compression. It reduces the lines of a log to a tenth in little time.
const LEVEL: i32 = 3;
/// What the name of a packed file has after that of the plain one.
const PACKED: &str = "zst";

pub(super) fn is_packed(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == PACKED)
}

/// Where the file of a day is once it is packed.
pub(super) fn packed_path(plain: &Path) -> PathBuf {
    let mut name = plain.as_os_str().to_owned();
    name.push(".");
    name.push(PACKED);
    name.into()
}

/// Packs the files of the days before `today`. One that cannot be packed stays as it is.
pub(super) fn pack_before(dir: &Path, today: Date) -> io::Result<()> {
    let mut failed = None;
    for (day, path) in read::files(dir)? {
        if day < today
            && !is_packed(&path)
            && let Err(error) = pack(&path)
        {
            failed.get_or_insert(error);
        }
    }
    failed.map_or(Ok(()), Err)
}

fn pack(plain: &Path) -> io::Result<()> {
    let packed = packed_path(plain);
    if packed.exists() {
        // A crash came before the deletion, or the clock was set back and the day got entries after
        // it was packed. Those are read after the packed ones.
        let is_left = have_same_lines(plain, &packed)?;
        return if is_left { fs::remove_file(plain) } else { Ok(()) };
    }
    let temporary = plain.with_extension("tmp");
    let written = compress(plain, &temporary).and_then(|()| fs::rename(&temporary, &packed));
    if written.is_err() {
        drop(fs::remove_file(&temporary));
    }
    written?;
    if let Some(dir) = plain.parent() {
        // The packed file must survive a power failure before the plain one is deleted.
        File::open(dir)?.sync_all()?;
    }
    fs::remove_file(plain)
}

fn compress(from: &Path, to: &Path) -> io::Result<()> {
    let mut encoder = zstd::Encoder::new(File::create(to)?, LEVEL)?;
    io::copy(&mut File::open(from)?, &mut encoder)?;
    encoder.finish()?.sync_all()
}

fn have_same_lines(one: &Path, other: &Path) -> io::Result<bool> {
    let mut one = read::open(one)?;
    let mut other = read::open(other)?;
    loop {
        let left = one.fill_buf()?;
        let right = other.fill_buf()?;
        let common = left.len().min(right.len());
        if common == 0 {
            return Ok(left.len() == right.len());
        }
        if left[..common] != right[..common] {
            return Ok(false);
        }
        one.consume(common);
        other.consume(common);
    }
}
