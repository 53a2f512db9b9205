//! Rebuild: a new file from what can be read of a damaged one.
//!
//! The new file is written beside the damaged one, which then gets another name. Hosts whose rows
//! cannot be read are lost with all of theirs; of other hosts each row that can be read is kept,
//! and their counts are made again. URLs whose fingerprints are lost are known again if they are in
//! the queue or among the pages; others may be fetched once more. At last the log is replayed, up
//! to the first part that is damaged. Without the totals, or where hosts are lost, the log is set
//! aside. Without the totals the frontier has a new epoch, too.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use super::{
    Frontier, FrontierError, HostNumber, HostRecord, PageRecord, RobotsState,
    disk::{
        Disk,
        rows::{self, HostRow},
        salvage::StoredRows,
    },
    log,
    state::{
        Checkpoint, HostChanges, QueuedPath, RobotsChange,
        inbox::InboxUrl,
        numbers::HostNumbers,
        seen::{SeenChanges, SeenUrl},
        url_of,
        window::{PageKey, QueueKey, WindowChanges},
    },
    store::{DamagedLog, FILE},
};

/// Package numbers that are left out: those that the lost part of the log may have used. The
/// coordinator refuses a second package of one number, and needs no numbers without gaps.
const LEFT_OUT_PACKAGES: u64 = 1 << 20;

/// Hosts that are written in one transaction.
const BATCH: usize = 500;

/// Rows of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Salvaged {
    /// Rows that the new file has.
    pub kept: u64,
    /// Further rows that the damaged file had; none where it does not say how many it had.
    pub lost: Option<u64>,
}

/// What became of a damaged frontier.
#[derive(Debug)]
pub struct Rebuilt {
    /// The damaged file.
    pub damaged: PathBuf,
    /// Hosts of the agent.
    pub hosts: Salvaged,
    /// URLs in queues.
    pub queued: Salvaged,
    /// Pages that are visited again.
    pub pages: Salvaged,
    /// Results that were not packed.
    pub results: Salvaged,
    /// Whether the totals are lost. Packages are numbered from the start again, and those that the
    /// coordinator has not taken are dropped.
    pub is_epoch_new: bool,
    /// Whether changes since the last checkpoint are lost, all or the last of them.
    pub is_log_lost: bool,
}

/// Numbers of rows that were written, and the largest order in them.
#[derive(Debug, Default)]
struct Written {
    hosts: u64,
    queued: u64,
    pages: u64,
    results: u64,
    last_order: u64,
    /// Whether the totals of the old file could be read.
    has_totals: bool,
    /// Whether no result is lost. Else pages whose content never arrived would be reported as
    /// unchanged for ever, so that each is fetched as a whole once more.
    has_results: bool,
}

impl Frontier {
    /// Opens the directory `dir` after its file was rebuilt from what can be read of it. The
    /// damaged file is kept, and its name ends with `new_epoch`.
    pub fn rebuild(dir: &Path, new_epoch: u64) -> Result<(Self, Rebuilt), FrontierError> {
        let file = dir.join(FILE);
        if !file.exists() {
            return Err(FrontierError::Missing(file));
        }
        let new = dir.join(format!("{FILE}.new"));
        remove_if_there(&new)?;
        let old = match Disk::open_damaged(&file) {
            Err(error @ FrontierError::InUse(_)) => return Err(error),
            opened => opened.ok(),
        };
        let stored = old.as_ref().map(Disk::stored_rows).unwrap_or_default();
        let written = copy(old.as_ref(), &new, new_epoch)?;
        drop(old);
        // Its changes name hosts and results by numbers that follow from all changes before.
        // Without the totals, or without a host, they would name others. A start after a crash must
        // not find the new file beside the log.
        let is_complete = written.has_totals && stored.hosts == Some(written.hosts);
        let is_set_aside = !is_complete && set_log_aside(dir, new_epoch)?;
        let damaged = damaged_name(&file, new_epoch);
        replace(&file, &new, &damaged)?;
        let (frontier, is_log_lost) = replay_if_possible(dir, new_epoch)?;
        let is_log_lost = is_log_lost || is_set_aside;
        let is_epoch_new = frontier.epoch() == new_epoch;
        let rebuilt = Rebuilt { is_epoch_new, is_log_lost, ..written.report(damaged, stored) };
        Ok((frontier, rebuilt))
    }
}

impl Written {
    fn report(self, damaged: PathBuf, stored: StoredRows) -> Rebuilt {
        let salvaged = |kept: u64, stored: Option<u64>| Salvaged {
            kept,
            lost: stored.map(|stored| stored.saturating_sub(kept)),
        };
        Rebuilt {
            damaged,
            hosts: salvaged(self.hosts, stored.hosts),
            queued: salvaged(self.queued, stored.queued),
            pages: salvaged(self.pages, stored.pages),
            results: salvaged(self.results, stored.results),
            is_epoch_new: false,
            is_log_lost: false,
        }
    }

    fn note_order(&mut self, order: u64) {
        self.last_order = self.last_order.max(order);
    }
}

/// Opens the rebuilt frontier with its log; if a part of that is damaged, with the changes before;
/// without it, if a change cannot be applied. Returns whether changes are lost.
fn replay_if_possible(dir: &Path, new_epoch: u64) -> Result<(Frontier, bool), FrontierError> {
    let error = match Frontier::open(dir, new_epoch) {
        Ok(frontier) => return Ok((frontier, false)),
        Err(error) => crate::error_line::of(&error),
    };
    tracing::warn!(error, "the log cannot be replayed as a whole");
    let segments = log::segments(dir)?;
    for number in &segments {
        copy_aside(&log::path(dir, *number), new_epoch)?;
    }
    if let Ok(frontier) = Frontier::open_with(dir, new_epoch, DamagedLog::ReadStart) {
        return Ok((frontier, true));
    }
    segments.iter().try_for_each(|number| log::delete(dir, *number))?;
    Ok((Frontier::open_with(dir, new_epoch, DamagedLog::ReadStart)?, true))
}

fn copy_aside(path: &Path, new_epoch: u64) -> Result<(), FrontierError> {
    let copied = std::fs::copy(path, damaged_name(path, new_epoch));
    copied.map(drop).map_err(|source| FrontierError::Rename { path: path.to_owned(), source })
}

/// Puts the new file in the place of the old one, which is kept as `damaged`. There is a file at
/// any moment: without one, a start after a crash would begin with nothing.
fn replace(file: &Path, new: &Path, damaged: &Path) -> Result<(), FrontierError> {
    if std::fs::hard_link(file, damaged).is_err() {
        // The file system has no links.
        rename(file, damaged)?;
    }
    rename(new, file)
}

/// Gives the log other names, which are not read. Returns whether there was one.
fn set_log_aside(dir: &Path, new_epoch: u64) -> Result<bool, FrontierError> {
    let segments = log::segments(dir)?;
    for number in &segments {
        let segment = log::path(dir, *number);
        rename(&segment, &damaged_name(&segment, new_epoch))?;
    }
    Ok(!segments.is_empty())
}

/// Writes what can be read of the old file to a new one.
fn copy(old: Option<&Disk>, new: &Path, new_epoch: u64) -> Result<Written, FrontierError> {
    let (disk, empty) = Disk::open(new, new_epoch)?;
    let mut written = Written::default();
    let totals = old.and_then(Disk::readable_totals);
    written.has_totals = totals.is_some();
    let mut totals = totals.unwrap_or(empty);
    if written.has_totals {
        totals.next_package += LEFT_OUT_PACKAGES;
    }
    let mut keys = HostNumbers::new(disk.hash_key()?);
    let Some(old) = old else { return Ok(written) };
    let results = old.readable_results();
    let is_whole = old.stored_rows().results == Some(results.len() as u64);
    written.has_results = written.has_totals && is_whole;
    let index = old.host_numbers().ok();
    for numbers in old.readable_hosts().chunks(BATCH) {
        let mut hosts = Vec::with_capacity(numbers.len());
        for number in numbers {
            let Some(row) = readable_row(old, *number, index.as_ref()) else { continue };
            // Without the index nothing says which of two rows with one key is the damaged one.
            if keys.get(&row.record.key).is_none() {
                keys.insert(&row.record.key, *number);
                hosts.push(read_host(old, *number, row, &mut written)?);
            }
        }
        disk.write(&Checkpoint { totals: totals.clone(), hosts, ..Checkpoint::default() })?;
    }
    for (order, _) in &results {
        written.results += 1;
        written.note_order(*order);
    }
    let results = results.into_iter().map(|(order, line)| (order, line.into())).collect();
    totals.queued = written.queued;
    totals.next_order = totals.next_order.max(written.last_order + 1);
    let numbers = keys.changes();
    disk.write(&Checkpoint { totals, numbers, results, ..Checkpoint::default() })?;
    Ok(written)
}

/// The row of a host, unless it cannot be read. A damaged page may be readable and have wrong
/// content.
fn readable_row(old: &Disk, number: HostNumber, index: Option<&HostNumbers>) -> Option<HostRow> {
    let row = old.readable_host(number)?;
    let key = &row.record.key;
    url_of(key, "/").ok().filter(|url| url.host_key_str() == key)?;
    let is_key_of = |other| old.readable_host(other).is_some_and(|row| row.record.key == *key);
    let other = index.and_then(|index| index.get(key)).filter(|other| *other != number);
    (!other.is_some_and(is_key_of)).then_some(row)
}

/// All that can be read of a host in addition to its row.
fn read_host(
    old: &Disk,
    number: HostNumber,
    row: HostRow,
    written: &mut Written,
) -> Result<HostChanges, FrontierError> {
    let key = &row.record.key;
    let mut queue = old.readable_queue(number);
    queue.retain(|(_, queued)| url_of(key, &queued.path).is_ok());
    let mut pages = old.readable_pages(number);
    pages.retain(|(_, page)| url_of(key, &page.path).is_ok());
    if !written.has_results {
        pages = pages.into_iter().map(|(key, page)| (key, page.forget_content())).collect();
    }
    let mut seen = fingerprints(old, number, &row, &queue, &pages);
    queue_links(old, number, &row, pages.len(), &mut seen, &mut queue);
    written.hosts += 1;
    written.queued += queue.len() as u64;
    written.pages += pages.len() as u64;
    written.note_order(number.0);
    for (_, order) in queue.iter().map(|(key, _)| key) {
        written.note_order(*order);
    }
    for (_, order) in pages.iter().map(|(key, _)| key) {
        written.note_order(*order);
    }
    host_changes(old, number, row, seen, &queue, &pages)
}

/// The rows of a host, with counts that are true of them.
fn host_changes(
    old: &Disk,
    number: HostNumber,
    row: HostRow,
    seen: BTreeSet<SeenUrl>,
    queue: &[(QueueKey, QueuedPath)],
    pages: &[(PageKey, PageRecord)],
) -> Result<HostChanges, FrontierError> {
    let robots = old.readable_robots(number);
    let count = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
    let row = HostRow {
        record: HostRecord { accepted: count(queue.len() + pages.len()), ..row.record },
        crawl_delay_ms: robots.as_ref().and_then(RobotsState::delay_ms),
        queued: count(queue.len()),
        pages: count(pages.len()),
        revisit_base: pages.first().map(|((base, _), _)| model::UnixMillis(*base)),
        seen_runs: if seen.is_empty() { Vec::new() } else { vec![(0, count(seen.len()))] },
    };
    let seen = (!seen.is_empty())
        .then(|| SeenChanges { deleted: Vec::new(), written: (0, Vec::from_iter(seen)) });
    let robots = robots.map_or(RobotsChange::None, |robots| RobotsChange::Set(robots.into()));
    Ok(HostChanges {
        number,
        row,
        robots,
        queue: encoded(queue)?,
        pages: encoded(pages)?,
        seen,
        has_decided: false,
    })
}

/// Queues the links to a host that were not decided, unless they lead to URLs that are known.
fn queue_links(
    old: &Disk,
    number: HostNumber,
    row: &HostRow,
    pages: usize,
    seen: &mut BTreeSet<SeenUrl>,
    queue: &mut Vec<(QueueKey, QueuedPath)>,
) {
    for (order, link) in old.readable_inbox(number) {
        let is_own = url_of(&row.record.key, &link.path).is_ok_and(|url| link.is(&url));
        // As for a link that is decided while the agent runs: URLs that have ended take no place.
        let has_room = queue.len() + pages < link.pages_a_host as usize;
        if is_own && has_room && seen.insert(link.fingerprint) {
            let InboxUrl { path, depth, redirects, .. } = link;
            queue.push(((depth, order), QueuedPath { path, redirects, attempts: 0 }));
        }
    }
    queue.sort_unstable_by_key(|(key, _)| *key);
}

/// Fingerprints of the URLs of a host: those that can be read, and those of its rows.
fn fingerprints(
    old: &Disk,
    number: HostNumber,
    row: &HostRow,
    queue: &[(QueueKey, QueuedPath)],
    pages: &[(PageKey, PageRecord)],
) -> BTreeSet<SeenUrl> {
    let mut seen = BTreeSet::new();
    let read = old.seen_runs(number);
    for (run, _) in &row.seen_runs {
        seen.extend(read(*run).unwrap_or_default());
    }
    let queued = queue.iter().map(|(_, queued)| queued.path.as_ref());
    for path in queued.chain(pages.iter().map(|(_, page)| page.path.as_str())) {
        let url = url_of(&row.record.key, path).ok();
        seen.extend(url.map(|url| super::state::short(url.fingerprint())));
    }
    seen
}

fn encoded<K: Copy, V: serde::Serialize>(
    rows: &[(K, V)],
) -> Result<WindowChanges<K>, FrontierError> {
    let encoded = rows.iter().map(|(key, row)| Ok((*key, rows::encode(row)?)));
    let written = encoded.collect::<Result<_, FrontierError>>()?;
    Ok(WindowChanges { deleted: Vec::new(), written })
}

fn damaged_name(path: &Path, epoch: u64) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".damaged-{epoch}"));
    name.into()
}

fn rename(from: &Path, to: &Path) -> Result<(), FrontierError> {
    let failed = |source| FrontierError::Rename { path: from.to_owned(), source };
    std::fs::rename(from, to).map_err(failed)
}

fn remove_if_there(path: &Path) -> Result<(), FrontierError> {
    match std::fs::remove_file(path) {
        Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
            Err(FrontierError::Rename { path: path.to_owned(), source })
        }
        _ => Ok(()),
    }
}
