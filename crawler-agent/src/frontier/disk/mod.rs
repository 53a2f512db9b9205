//! The file of the frontier: rows of all hosts, as of the last checkpoint.

mod fingerprints;
mod inbox;
mod numbers;
pub(in crate::frontier) mod rows;
pub(in crate::frontier) mod salvage;
pub(in crate::frontier) mod work;

use std::path::Path;

use redb::{
    AccessGuard, Database, ReadableDatabase as _, ReadableTable as _, Table, TableDefinition,
    WriteTransaction,
};

use super::{
    FrontierError, HostNumber, PageRecord, RobotsState,
    state::{
        Checkpoint, HostChanges, RobotsChange,
        seen::SeenUrl,
        window::{PageKey, QueueKey, Reader},
    },
};
use crate::{frontier::state::QueuedPath, guarded_file::Guarded};
use inbox::InboxTables;
use rows::{HostRow, Totals, decode, encode};
use work::{WorkEntry, WorkIndex};

/// Most memory of the file's page cache, in bytes.
const CACHE_BYTES: usize = 12 << 20;

/// The only row: [`Totals`].
const TOTALS: TableDefinition<'_, (), &[u8]> = TableDefinition::new("totals");
/// Host number to [`HostRow`].
const HOSTS: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("hosts");
/// Host number to [`RobotsState`].
const ROBOTS: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("robots");
/// (host, depth, order) to [`QueuedPath`]: breadth first within a host.
const QUEUE: TableDefinition<'_, (u64, u16, u64), &[u8]> = TableDefinition::new("queue");
/// (host, revisit base, order) to [`PageRecord`].
const PAGES: TableDefinition<'_, (u64, i64, u64), &[u8]> = TableDefinition::new("pages");
/// (host, number of the run) to a sorted run of fingerprints, as [`fingerprints`] encodes them.
const SEEN: TableDefinition<'_, (u64, u32), &[u8]> = TableDefinition::new("seen");
/// Order to one entry of a package.
const RESULTS: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("results");

/// The open file.
pub(super) struct Disk {
    db: Guarded<Database, FrontierError>,
}

impl Disk {
    /// Opens the file, or makes it.
    pub(super) fn open(path: &Path, new_epoch: u64) -> Result<(Self, Totals), FrontierError> {
        let db = Guarded::open(path, || {
            let opened = Database::builder().set_cache_size(CACHE_BYTES).create(path);
            opened.map_err(|error| FrontierError::open(path, error))
        })?;
        let totals = db.with(|db| totals(db, new_epoch))?;
        if totals.format == rows::FORMAT {
            Ok((Self { db }, totals))
        } else {
            Err(FrontierError::Format { path: path.to_owned(), found: totals.format })
        }
    }

    /// A host with the state of its robots.txt.
    pub(super) fn host(
        &self,
        host: HostNumber,
    ) -> Result<Option<(HostRow, Option<RobotsState>)>, FrontierError> {
        self.db.with(|db| {
            let read = db.begin_read()?;
            let Some(row) = read.open_table(HOSTS)?.get(host.0)? else { return Ok(None) };
            let robots = read.open_table(ROBOTS)?.get(host.0)?;
            let robots = robots.map(|row| decode(row.value())).transpose()?;
            Ok(Some((decode(row.value())?, robots)))
        })
    }

    /// A reader of a host's queue.
    pub(super) fn queue(&self, host: HostNumber) -> impl Reader<QueueKey, QueuedPath> + Copy {
        move |(depth, order): QueueKey, most: usize| {
            self.db.with(|db| {
                let table = db.begin_read()?.open_table(QUEUE)?;
                let rows = table.range((host.0, depth, order)..(host.0 + 1, 0, 0))?.take(most);
                let rows = rows.map(|entry| {
                    let (key, row) = entry?;
                    let (_, depth, order) = key.value();
                    Ok(((depth, order), decode(row.value())?))
                });
                in_order(rows, (depth, order))
            })
        }
    }

    /// A reader of a host's pages.
    pub(super) fn pages(&self, host: HostNumber) -> impl Reader<PageKey, Box<PageRecord>> + Copy {
        move |(base, order): PageKey, most: usize| {
            self.db.with(|db| {
                let table = db.begin_read()?.open_table(PAGES)?;
                let from = (host.0, base, order);
                let rows = table.range(from..(host.0 + 1, i64::MIN, 0))?.take(most);
                let rows = rows.map(|entry| {
                    let (key, row) = entry?;
                    let (_, base, order) = key.value();
                    Ok(((base, order), decode(row.value())?))
                });
                in_order(rows, (base, order))
            })
        }
    }

    /// A reader of runs of a host's fingerprints, by their numbers.
    pub(super) fn seen_runs(
        &self,
        host: HostNumber,
    ) -> impl Fn(u32) -> Result<Vec<SeenUrl>, FrontierError> {
        move |run| {
            self.db.with(|db| {
                let table = db.begin_read()?.open_table(SEEN)?;
                let Some(row) = table.get((host.0, run))? else { return Ok(Vec::new()) };
                fingerprints::decode(row.value())
            })
        }
    }

    /// All results, by their numbers.
    pub(super) fn results(&self) -> Result<Vec<(u64, Vec<u8>)>, FrontierError> {
        self.db.with(|db| {
            let table = db.begin_read()?.open_table(RESULTS)?;
            let rows = table.iter()?;
            rows.map(|entry| {
                let (order, line) = entry?;
                Ok((order.value(), line.value().to_vec()))
            })
            .collect()
        })
    }

    /// Writes a checkpoint, which is durable when this returns.
    pub(super) fn write(&self, checkpoint: &Checkpoint) -> Result<(), FrontierError> {
        self.db.with(|db| write_all(db, checkpoint))
    }
}

/// The totals; in a new file, those of an empty frontier, and empty tables.
fn totals(db: &Database, new_epoch: u64) -> Result<Totals, FrontierError> {
    let write = db.begin_write()?;
    let totals = {
        write.open_table(HOSTS)?;
        write.open_table(ROBOTS)?;
        write.open_table(QUEUE)?;
        write.open_table(PAGES)?;
        write.open_table(SEEN)?;
        write.open_table(RESULTS)?;
        WorkIndex::open(&write)?;
        InboxTables::open(&write)?;
        numbers::make(&write)?;
        let mut table = write.open_table(TOTALS)?;
        let stored = table.get(())?.map(|row| decode(row.value())).transpose()?;
        if let Some(totals) = stored {
            totals
        } else {
            let totals = Totals::new(new_epoch);
            table.insert((), encode(&totals)?.as_slice())?;
            totals
        }
    };
    write.commit()?;
    Ok(totals)
}

fn write_all(db: &Database, checkpoint: &Checkpoint) -> Result<(), FrontierError> {
    let mut write = db.begin_write()?;
    // Without this a file that was not closed is checked as a whole when it is opened.
    write.set_quick_repair(true);
    for host in &checkpoint.released {
        delete(&write, *host)?;
    }
    write_hosts(&write, &checkpoint.hosts)?;
    InboxTables::open(&write)?.insert(&checkpoint.inbox)?;
    numbers::write(&write, &checkpoint.numbers)?;
    {
        let mut results = write.open_table(RESULTS)?;
        for order in &checkpoint.packed {
            results.remove(order)?;
        }
        for (order, line) in &checkpoint.results {
            results.insert(order, line.as_ref())?;
        }
        let totals = encode(&checkpoint.totals)?;
        write.open_table(TOTALS)?.insert((), totals.as_slice())?;
    }
    write.commit()?;
    Ok(())
}

/// Rows whose keys rise from a key on. On a damaged page they may not, and a reader that continues
/// after the last key would loop for ever.
fn in_order<K: Ord + Copy, V>(
    rows: impl Iterator<Item = Result<(K, V), FrontierError>>,
    from: K,
) -> Result<Vec<(K, V)>, FrontierError> {
    let rows: Vec<(K, V)> = rows.collect::<Result<_, _>>()?;
    let rises = rows.is_sorted_by(|(one, _), (next, _)| one < next);
    let is_after = rows.first().is_none_or(|(key, _)| *key >= from);
    if rises && is_after { Ok(rows) } else { Err(FrontierError::Order) }
}

/// Deletes all rows of a host.
fn delete(write: &WriteTransaction, host: HostNumber) -> Result<(), FrontierError> {
    let number = host.0;
    let after = number + 1;
    let former = former_entry(host, write.open_table(HOSTS)?.remove(number)?)?;
    WorkIndex::open(write)?.replace(former, None)?;
    InboxTables::open(write)?.delete(host)?;
    write.open_table(ROBOTS)?.remove(number)?;
    write.open_table(SEEN)?.retain_in((number, 0)..(after, 0), |_, _| false)?;
    write.open_table(QUEUE)?.retain_in((number, 0, 0)..(after, 0, 0), |_, _| false)?;
    let pages = (number, i64::MIN, 0)..(after, i64::MIN, 0);
    write.open_table(PAGES)?.retain_in(pages, |_, _| false)?;
    Ok(())
}

/// Entry of the work index that belongs to a host's former row.
fn former_entry(
    host: HostNumber,
    row: Option<AccessGuard<'_, &[u8]>>,
) -> Result<Option<WorkEntry>, FrontierError> {
    let row = row.map(|row| decode::<HostRow>(row.value())).transpose()?;
    Ok(row.and_then(|row| WorkEntry::of(host, &row)))
}

fn write_hosts(write: &WriteTransaction, hosts: &[HostChanges]) -> Result<(), FrontierError> {
    let mut rows = write.open_table(HOSTS)?;
    let mut robots = write.open_table(ROBOTS)?;
    let mut queue = write.open_table(QUEUE)?;
    let mut pages = write.open_table(PAGES)?;
    let mut seen = write.open_table(SEEN)?;
    let mut work = WorkIndex::open(write)?;
    let mut inbox = InboxTables::open(write)?;
    for host in hosts {
        let number = host.number.0;
        let former = rows.insert(number, encode(&host.row)?.as_slice())?;
        let former = former_entry(host.number, former)?;
        work.replace(former, WorkEntry::of(host.number, &host.row))?;
        if host.has_decided {
            inbox.delete(host.number)?;
        }
        match &host.robots {
            RobotsChange::Set(state) => {
                robots.insert(number, encode(state.as_ref())?.as_slice())?;
            }
            RobotsChange::Delete => drop(robots.remove(number)?),
            RobotsChange::None => {}
        }
        for (depth, order) in &host.queue.deleted {
            queue.remove((number, *depth, *order))?;
        }
        for ((depth, order), row) in &host.queue.written {
            queue.insert((number, *depth, *order), row.as_slice())?;
        }
        for (base, order) in &host.pages.deleted {
            pages.remove((number, *base, *order))?;
        }
        for ((base, order), row) in &host.pages.written {
            pages.insert((number, *base, *order), row.as_slice())?;
        }
        write_seen(&mut seen, host)?;
    }
    Ok(())
}

fn write_seen(
    seen: &mut Table<'_, (u64, u32), &'static [u8]>,
    host: &HostChanges,
) -> Result<(), FrontierError> {
    let Some(changes) = &host.seen else { return Ok(()) };
    let number = host.number.0;
    for run in &changes.deleted {
        seen.remove((number, *run))?;
    }
    let (run, values) = &changes.written;
    seen.insert((number, *run), fingerprints::encode(values).as_slice())?;
    Ok(())
}
