//! Reader of the activity log.

use std::{
    fs::File,
    io::{BufRead, BufReader, ErrorKind},
    path::{Path, PathBuf},
};

use jiff::{Timestamp, civil::Date, tz::TimeZone};

use super::{
    ActivityEntry,
    pack::{is_packed, packed_path},
};
use crate::file::FileError;

/// The activity log's files with their days, oldest first. Other files are ignored. Where a day has
/// entries that came after its file was packed, they follow it.
pub(super) fn files(dir: &Path) -> std::io::Result<Vec<(Date, PathBuf)>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(dir)? {
        let path = entry?.path();
        files.extend(day_of_file(&path).map(|day| (day, path)));
    }
    files.sort_by_key(|(day, path)| (*day, !is_packed(path)));
    Ok(files)
}

fn day_of_file(path: &Path) -> Option<Date> {
    let plain = if is_packed(path) { path.file_stem()? } else { path.file_name()? };
    plain.to_str()?.strip_suffix(".jsonl")?.parse().ok()
}

/// Opens a file of the log. One that was packed since it was listed is found at its new place.
pub(super) fn open(path: &Path) -> std::io::Result<Box<dyn BufRead>> {
    match File::open(path) {
        Ok(file) if is_packed(path) => {
            let decoder = zstd::Decoder::with_buffer(BufReader::new(file))?;
            Ok(Box::new(BufReader::new(decoder)))
        }
        Ok(file) => Ok(Box::new(BufReader::new(file))),
        Err(error) if error.kind() == ErrorKind::NotFound && !is_packed(path) => {
            open(&packed_path(path))
        }
        Err(error) => Err(error),
    }
}

/// The entries from `since` on, oldest first. Lines that cannot be parsed, because a crash cut them
/// off, are skipped.
pub fn entries(
    dir: &Path,
    since: Option<Timestamp>,
) -> Result<impl Iterator<Item = ActivityEntry> + use<>, FileError> {
    let first_day = since.map(|since| since.to_zoned(TimeZone::UTC).date());
    let files = files(dir).map_err(FileError::at(dir, "read"))?;
    let files =
        files.into_iter().filter(move |(day, _)| first_day.is_none_or(|first| *day >= first));
    let lines = files
        .filter_map(|(_, path)| open(&path).ok())
        .flat_map(|file| file.lines().map_while(Result::ok));
    let entries = lines.filter_map(|line| serde_json::from_str::<ActivityEntry>(&line).ok());
    Ok(entries.filter(move |entry| since.is_none_or(|since| entry.at >= since)))
}
