//! What was done in the owner's name: one line of JSON for each request and probe, in a file for
//! each day.
//!
//! Only appended to. No order of the coordinator can switch it off; files older than the owner
//! wants are deleted.

mod read;

use std::{
    fs::{File, OpenOptions},
    io::{Read as _, Seek as _, SeekFrom, Write as _},
    net::IpAddr,
    path::{Path, PathBuf},
    sync::mpsc::{Receiver, SyncSender, sync_channel},
    time::Duration,
};

use jiff::{Timestamp, ToSpan as _, civil::Date, tz::TimeZone};
use protocol::page::Timing;
use serde::{Deserialize, Serialize};

pub use read::{JournalError, entries};

/// Lines that may wait for a slow disk.
const WAITING: usize = 4_096;

/// What was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A page was asked for.
    Page,
    /// robots.txt was asked for.
    Robots,
    /// A round trip was measured.
    Probe,
}

impl Kind {
    /// The word in the journal.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Page => "page",
            Self::Robots => "robots",
            Self::Probe => "probe",
        }
    }
}

/// One line of the journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JournalEntry {
    /// When it was over, UTC.
    pub at: Timestamp,
    /// What was done.
    pub kind: Kind,
    /// The URL, or the address for a probe.
    pub target: String,
    /// The address that was talked to.
    pub address: Option<IpAddr>,
    /// HTTP status, method of a probe, or what went wrong.
    pub outcome: String,
    /// Bytes of the body on the wire.
    pub bytes: u64,
    /// How long it took, in milliseconds.
    pub ms: u32,
}

/// Writes the journal on a thread of its own. Cloning is cheap.
#[derive(Clone)]
pub struct Journal {
    lines: SyncSender<Line>,
}

enum Line {
    Entry(JournalEntry),
    /// Answered when everything before it is written.
    Flush(SyncSender<()>),
}

impl Journal {
    /// Starts writing into `dir`, and deletes files older than `days`.
    pub fn start(dir: &Path, days: u32) -> std::io::Result<Self> {
        std::fs::create_dir_all(dir)?;
        let (lines, inbox) = sync_channel(WAITING);
        let writer = JournalWriter { dir: dir.to_owned(), days, open: None };
        std::thread::Builder::new()
            .name("journal".into())
            .spawn(move || writer.write_all(&inbox))?;
        Ok(Self { lines })
    }

    /// Notes a request.
    pub fn note(
        &self,
        kind: Kind,
        target: &str,
        address: Option<IpAddr>,
        outcome: &str,
        bytes: u64,
        timing: Timing,
    ) {
        let entry = JournalEntry {
            at: Timestamp::now(),
            kind,
            target: target.to_owned(),
            address,
            outcome: outcome.to_owned(),
            bytes,
            ms: timing.total_us / 1_000,
        };
        if self.lines.try_send(Line::Entry(entry)).is_err() {
            tracing::warn!(target, "the journal can't keep up; a line is missing from it");
        }
    }

    /// Returns when everything that was noted is written, or after `within`. Blocks.
    pub fn flush(&self, within: Duration) {
        let (written, wait) = sync_channel(1);
        if self.lines.try_send(Line::Flush(written)).is_ok() {
            // The limit is for a disk that hangs.
            let _ = wait.recv_timeout(within);
        }
    }
}

struct JournalWriter {
    dir: PathBuf,
    days: u32,
    open: Option<(Date, File)>,
}

impl JournalWriter {
    fn write_all(mut self, inbox: &Receiver<Line>) {
        while let Ok(line) = inbox.recv() {
            let written = match line {
                Line::Entry(entry) => self.write(&entry),
                // Whoever asked may have gone.
                Line::Flush(written) => {
                    let _ = written.send(());
                    Ok(())
                }
            };
            if let Err(error) = written {
                tracing::error!(%error, dir = %self.dir.display(), "the journal can't be written");
            }
        }
    }

    fn write(&mut self, entry: &JournalEntry) -> std::io::Result<()> {
        let today = entry.at.to_zoned(TimeZone::UTC).date();
        let mut line = serde_json::to_vec(entry)?;
        line.push(b'\n');
        // One write for the whole line, so that readers never see half of one.
        self.file(today)?.write_all(&line)
    }

    fn file(&mut self, today: Date) -> std::io::Result<&mut File> {
        if self.open.as_ref().is_none_or(|(date, _)| *date != today) {
            self.delete_old(today)?;
            let path = self.dir.join(format!("{today}.jsonl"));
            let mut file = OpenOptions::new().create(true).read(true).append(true).open(path)?;
            end_last_line(&mut file)?;
            return Ok(&mut self.open.insert((today, file)).1);
        }
        match &mut self.open {
            Some((_, file)) => Ok(file),
            None => Err(std::io::Error::other("no file is open")),
        }
    }

    fn delete_old(&self, today: Date) -> std::io::Result<()> {
        let Ok(oldest) = today.checked_sub(i64::from(self.days).days()) else { return Ok(()) };
        for (date, path) in read::files(&self.dir)? {
            if date < oldest {
                std::fs::remove_file(path)?;
            }
        }
        Ok(())
    }
}

/// A line that was cut off by a crash gets its end, so that the next one stands alone.
fn end_last_line(file: &mut File) -> std::io::Result<()> {
    let mut last = [b'\n'];
    if file.metadata()?.len() > 0 {
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
    }
    if last == *b"\n" { Ok(()) } else { file.write_all(b"\n") }
}

#[cfg(test)]
mod tests;
