//! Reader of the activity log.

use std::{
    fs::File,
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
};

use jiff::{Timestamp, civil::Date, tz::TimeZone};

use super::ActivityEntry;
use crate::file::FileError;

/// The activity log's files with their days, oldest first. Other files are ignored.
pub(super) fn files(dir: &Path) -> std::io::Result<Vec<(Date, PathBuf)>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(dir)? {
        let path = entry?.path();
        let day =
            path.file_name().and_then(|name| name.to_str()?.strip_suffix(".jsonl")?.parse().ok());
        files.extend(day.map(|day: Date| (day, path)));
    }
    files.sort();
    Ok(files)
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
        .filter_map(|(_, path)| File::open(path).ok())
        .flat_map(|file| BufReader::new(file).lines().map_while(Result::ok));
    let entries = lines.filter_map(|line| serde_json::from_str::<ActivityEntry>(&line).ok());
    Ok(entries.filter(move |entry| since.is_none_or(|since| entry.at >= since)))
}
