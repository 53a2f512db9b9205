//! The activity log: one line of JSON for each request and probe that was made in the owner's name,
//! one file for each day (UTC).
//!
//! Files are only appended to, compressed when their day has ended, and deleted after the number of
//! days that the owner configured, by the earlier of the agent's and the coordinator's clock. No
//! message of the coordinator can switch the activity log off. Another thread compresses them, so
//! that no request waits for it at the end of a day.

mod pack;
mod read;
mod under_way;

use std::{
    fs::{File, OpenOptions},
    io::{Read as _, Seek as _, SeekFrom, Write as _},
    net::IpAddr,
    path::{Path, PathBuf},
    sync::mpsc::{Receiver, SyncSender, sync_channel},
    thread::JoinHandle,
    time::{Duration, Instant},
};

use jiff::{Timestamp, ToSpan as _, civil::Date, tz::TimeZone};
use model::UnixMillis;
use protocol::page::Timing;
use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

use crate::clock;

pub use read::entries;
pub use under_way::UnderWay;

/// Lines that may wait for a slow disk before the crawl waits, too.
const WAITING: usize = 4_096;

/// Pause of the writing thread after a batch of lines, or after a line that followed another one so
/// closely. Waking the thread for each line of a fast crawl costs more than writing them.
const PAUSE: Duration = Duration::from_millis(10);

/// Bytes of a batch after which it is written.
const BATCH: usize = 64 << 10;

/// Kind of activity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Activity {
    /// A page was requested.
    Page,
    /// robots.txt was requested.
    Robots,
    /// A round trip was measured.
    Probe,
}

impl Activity {
    /// Keyword in the text and CSV output.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// One line of the activity log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActivityEntry {
    /// End of the activity, UTC.
    pub at: Timestamp,
    pub kind: Activity,
    /// URL; for a probe without a URL, the address.
    pub target: String,
    /// Address that was contacted.
    pub address: Option<IpAddr>,
    /// HTTP status, method of a probe, or error.
    pub outcome: String,
    /// Size of the body on the wire, in bytes.
    pub bytes: u64,
    /// Duration, in milliseconds.
    pub ms: u32,
}

/// Handle of the thread that writes the activity log.
#[derive(Clone)]
pub struct ActivityLog {
    lines: SyncSender<Line>,
}

enum Line {
    Entry(ActivityEntry),
    /// Deletes the files that are too old on this day.
    DeleteOld(Date),
    /// Answered once every line before it is written.
    Flush(SyncSender<()>),
}

impl ActivityLog {
    /// Starts an activity log in `dir` that keeps files for `days` days.
    pub fn start(dir: &Path, days: u32) -> std::io::Result<Self> {
        std::fs::create_dir_all(dir)?;
        let (lines, inbox) = sync_channel(WAITING);
        let writer = LogWriter::new(dir, days);
        std::thread::Builder::new()
            .name("activity-log".into())
            .spawn(move || writer.write_all(&inbox))?;
        Ok(Self { lines })
    }

    /// Adds an entry. Where the disk does not keep up, this waits: the owner must find every
    /// request in the log, so the crawl slows down.
    pub fn note(
        &self,
        kind: Activity,
        target: &str,
        address: Option<IpAddr>,
        outcome: &str,
        bytes: u64,
        timing: Timing,
    ) {
        let entry = ActivityEntry {
            at: Timestamp::now(),
            kind,
            target: target.to_owned(),
            address,
            outcome: outcome.to_owned(),
            bytes,
            ms: timing.total_us / 1_000,
        };
        if self.lines.send(Line::Entry(entry)).is_err() {
            tracing::error!(target, "the activity log has ended; a line is missing from it");
        }
    }

    /// Deletes the files that are too old at a time by a clock that is not ahead.
    pub fn delete_old(&self, now: UnixMillis) {
        // Where the disk does not keep up, the next call does it.
        let _ = self.lines.try_send(Line::DeleteOld(day_of(clock::timestamp(now))));
    }

    /// Blocks until every line so far is written, at most for `timeout`.
    pub fn flush(&self, timeout: Duration) {
        let (written, wait) = sync_channel(1);
        if self.lines.try_send(Line::Flush(written)).is_ok() {
            // The time limit is for a disk that hangs.
            let _ = wait.recv_timeout(timeout);
        }
    }
}

/// The timing of an activity of which only the whole duration is known.
pub(crate) fn lasted(duration: Duration) -> Timing {
    let total_us = u32::try_from(duration.as_micros()).unwrap_or(u32::MAX);
    Timing { connect_us: 0, tcp_us: 0, first_byte_us: 0, total_us }
}

/// Lets lines gather, so that a write takes many of them. Waiting for the next line would wake the
/// thread for each.
#[expect(clippy::disallowed_methods, reason = "the thread of the log has nothing else to do")]
fn pause() {
    std::thread::sleep(PAUSE);
}

/// State of the writing thread.
struct LogWriter {
    dir: PathBuf,
    days: u32,
    /// Day on which old files were deleted last.
    cleaned: Option<Date>,
    /// Day on which the compression of the files of earlier days was begun last.
    packed: Option<Date>,
    /// The thread that compresses them.
    packing: Option<JoinHandle<()>>,
    open: Option<(Date, File)>,
    /// Whole lines of one day that are not written yet.
    batch: Vec<u8>,
    batch_date: Date,
}

impl LogWriter {
    fn new(dir: &Path, days: u32) -> Self {
        let batch_date = Date::default();
        let batch = Vec::new();
        let dir = dir.to_owned();
        Self {
            dir,
            days,
            cleaned: None,
            packed: None,
            packing: None,
            open: None,
            batch,
            batch_date,
        }
    }

    fn write_all(mut self, inbox: &Receiver<Line>) {
        let mut last = Instant::now();
        while let Ok(first) = inbox.recv() {
            let lines = 1 + self.take_waiting(first, inbox);
            let is_fast = lines > 1 || last.elapsed() < PAUSE;
            if is_fast {
                pause();
            }
            last = Instant::now();
        }
    }

    /// Writes the first line and all that wait; returns the number of the latter.
    fn take_waiting(&mut self, first: Line, inbox: &Receiver<Line>) -> usize {
        self.take(first);
        let mut waiting = 0;
        for line in inbox.try_iter().take(WAITING) {
            self.take(line);
            waiting += 1;
        }
        self.noted(Self::write_batch);
        waiting
    }

    fn take(&mut self, line: Line) {
        match line {
            Line::Entry(entry) => self.noted(|writer| writer.add(&entry)),
            Line::DeleteOld(today) => self.noted(|writer| writer.delete_old(today)),
            Line::Flush(written) => {
                self.noted(Self::write_batch);
                // The caller may have given up waiting.
                let _ = written.send(());
            }
        }
    }

    fn noted(&mut self, write: impl FnOnce(&mut Self) -> std::io::Result<()>) {
        if let Err(error) = write(self) {
            let dir = self.dir.display();
            tracing::error!(%error, %dir, "the activity log cannot be written");
        }
    }

    fn add(&mut self, entry: &ActivityEntry) -> std::io::Result<()> {
        let today = day_of(entry.at);
        if today != self.batch_date || self.batch.len() >= BATCH {
            self.write_batch()?;
            self.batch_date = today;
        }
        serde_json::to_writer(&mut self.batch, entry)?;
        self.batch.push(b'\n');
        Ok(())
    }

    fn write_batch(&mut self) -> std::io::Result<()> {
        if self.batch.is_empty() {
            return Ok(());
        }
        let mut batch = std::mem::take(&mut self.batch);
        // One write for whole lines, so that a reader never sees half of one.
        let written = self.file(self.batch_date).and_then(|file| file.write_all(&batch));
        batch.clear();
        self.batch = batch;
        if written.is_err() {
            // A part may have been written. The file is opened again, so that the next line starts
            // a line of its own.
            self.open = None;
        }
        written
    }

    fn file(&mut self, today: Date) -> std::io::Result<&mut File> {
        if self.open.as_ref().is_none_or(|(date, _)| *date != today) {
            self.pack_before(today);
            // A clock that was set back, or a line that arrives late: what is added to a file while
            // it is compressed would be lost.
            if self.packed > Some(today) {
                self.finish_packing();
            }
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

    /// Begins to compress the files of the days before, once a day.
    fn pack_before(&mut self, today: Date) {
        if self.packed >= Some(today) {
            return;
        }
        self.packed = Some(today);
        self.finish_packing();
        let dir = self.dir.clone();
        let thread = std::thread::Builder::new().name("activity-pack".into());
        match thread.spawn(move || pack_or_warn(&dir, today)) {
            Ok(packing) => self.packing = Some(packing),
            Err(error) => tracing::warn!(%error, "no thread compresses the activity log"),
        }
    }

    /// Waits for the thread that compresses files.
    fn finish_packing(&mut self) {
        if self.packing.take().is_some_and(|packing| packing.join().is_err()) {
            tracing::warn!("the compression of the activity log has crashed");
        }
    }

    fn delete_old(&mut self, today: Date) -> std::io::Result<()> {
        if self.cleaned == Some(today) {
            return Ok(());
        }
        self.cleaned = Some(today);
        // Nothing may be written to the file of an ended day any more once it is compressed.
        self.noted(Self::write_batch);
        self.open.take_if(|(date, _)| *date < today);
        // A thread that still compresses a day would bring its file back.
        self.finish_packing();
        let deleted = self.delete_before(today);
        // An agent that rests, perhaps because the log fills its directory, writes no entry.
        self.pack_before(today);
        deleted
    }

    /// Deletes the files that are too old on this day.
    fn delete_before(&self, today: Date) -> std::io::Result<()> {
        let Ok(oldest) = today.checked_sub(i64::from(self.days).days()) else { return Ok(()) };
        let old = read::files(&self.dir)?.into_iter().filter(|(date, _)| *date < oldest);
        // One file that cannot be deleted must not prevent the deletion of the others.
        let mut failed = None;
        for (_, path) in old {
            if let Err(error) = std::fs::remove_file(path) {
                failed.get_or_insert(error);
            }
        }
        failed.map_or(Ok(()), Err)
    }
}

impl Drop for LogWriter {
    fn drop(&mut self) {
        self.finish_packing();
    }
}

/// Compresses the files of the days before `today`.
fn pack_or_warn(dir: &Path, today: Date) {
    if let Err(error) = pack::pack_before(dir, today) {
        let dir = dir.display();
        tracing::warn!(%error, %dir, "the activity log of an ended day stays uncompressed");
    }
}

fn day_of(at: Timestamp) -> Date {
    at.to_zoned(TimeZone::UTC).date()
}

/// Ends a line that a crash cut off, so that the next entry starts a line of its own.
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
