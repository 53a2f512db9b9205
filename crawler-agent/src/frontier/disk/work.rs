//! Work index: the hosts that have work, in the order of their times.
//!
//! The schedule holds some thousand hosts and finds the next ones here. The index follows from the
//! rows of the hosts and is written with them, so a host's row says which entry it has.

use std::ops::RangeInclusive;

use model::UnixMillis;
use redb::{Key, Range, ReadableDatabase as _, Table, TableDefinition, Value, WriteTransaction};

use super::{Disk, rows::HostRow};
use crate::frontier::{FrontierError, HostNumber};

/// (Earliest time of the next request, host) to the Crawl-delay in milliseconds, of hosts with URLs
/// in their queues.
const QUEUED: TableDefinition<'_, (i64, u64), u32> = TableDefinition::new("queued_hosts");
/// (Earliest revisit base of the pages, host) to the earliest time of the next request and the
/// Crawl-delay in milliseconds, of hosts with empty queues and with pages.
const REVISITED: TableDefinition<'_, (i64, u64), (i64, u32)> =
    TableDefinition::new("revisited_hosts");

/// What a host has to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::frontier) struct WorkEntry {
    pub(in crate::frontier) host: HostNumber,
    /// Earliest time of the next request.
    pub(in crate::frontier) due: UnixMillis,
    /// Crawl-delay, in milliseconds.
    pub(in crate::frontier) crawl_delay_ms: u32,
    /// The earliest revisit base of its pages; none where it has URLs in its queue.
    pub(in crate::frontier) revisit_base: Option<UnixMillis>,
}

impl WorkEntry {
    /// The entry of a host; none where it has nothing to do.
    pub(in crate::frontier) fn of(host: HostNumber, row: &HostRow) -> Option<Self> {
        let revisit_base = if row.queued > 0 { None } else { Some(row.revisit_base?) };
        let due = row.record.due;
        Some(Self { host, due, crawl_delay_ms: row.crawl_delay_ms.unwrap_or(0), revisit_base })
    }
}

/// The index, open for writing.
pub(super) struct WorkIndex<'t> {
    queued: Table<'t, (i64, u64), u32>,
    revisited: Table<'t, (i64, u64), (i64, u32)>,
}

impl<'t> WorkIndex<'t> {
    /// Opens the index; makes it in a new file.
    pub(super) fn open(write: &'t WriteTransaction) -> Result<Self, FrontierError> {
        Ok(Self { queued: write.open_table(QUEUED)?, revisited: write.open_table(REVISITED)? })
    }

    /// Replaces the entry that a host had by the one that it has.
    pub(super) fn replace(
        &mut self,
        former: Option<WorkEntry>,
        present: Option<WorkEntry>,
    ) -> Result<(), FrontierError> {
        if former == present {
            return Ok(());
        }
        if let Some(former) = former {
            self.remove(former)?;
        }
        if let Some(present) = present {
            self.insert(present)?;
        }
        Ok(())
    }

    fn insert(&mut self, entry: WorkEntry) -> Result<(), FrontierError> {
        let WorkEntry { host, due, crawl_delay_ms, revisit_base } = entry;
        match revisit_base {
            None => {
                self.queued.insert((due.0, host.0), crawl_delay_ms)?;
            }
            Some(base) => {
                self.revisited.insert((base.0, host.0), (due.0, crawl_delay_ms))?;
            }
        }
        Ok(())
    }

    fn remove(&mut self, entry: WorkEntry) -> Result<(), FrontierError> {
        match entry.revisit_base {
            None => {
                self.queued.remove((entry.due.0, entry.host.0))?;
            }
            Some(base) => {
                self.revisited.remove((base.0, entry.host.0))?;
            }
        }
        Ok(())
    }
}

impl Disk {
    /// Calls `each` with the hosts that have URLs in their queues and are due at these times, in
    /// their order, until it returns false.
    pub(in crate::frontier) fn queued_hosts(
        &self,
        due: RangeInclusive<UnixMillis>,
        mut each: impl FnMut(WorkEntry) -> bool,
    ) -> Result<(), FrontierError> {
        self.db.with(|db| {
            let table = db.begin_read()?.open_table(QUEUED)?;
            each_in_order(table.range(keys(&due))?, |(due, host), crawl_delay_ms| {
                let host = HostNumber(host);
                each(WorkEntry { host, due: UnixMillis(due), crawl_delay_ms, revisit_base: None })
            })
        })
    }

    /// Calls `each` with the hosts that have empty queues and pages, whose earliest revisit bases
    /// are these times, in their order, until it returns false.
    pub(in crate::frontier) fn revisited_hosts(
        &self,
        bases: RangeInclusive<UnixMillis>,
        mut each: impl FnMut(WorkEntry) -> bool,
    ) -> Result<(), FrontierError> {
        self.db.with(|db| {
            let table = db.begin_read()?.open_table(REVISITED)?;
            each_in_order(table.range(keys(&bases))?, |(base, host), (due, crawl_delay_ms)| {
                let revisit_base = Some(UnixMillis(base));
                let host = HostNumber(host);
                each(WorkEntry { host, due: UnixMillis(due), crawl_delay_ms, revisit_base })
            })
        })
    }
}

/// The keys of hosts with these times.
fn keys(times: &RangeInclusive<UnixMillis>) -> RangeInclusive<(i64, u64)> {
    (times.start().0, 0)..=(times.end().0, u64::MAX)
}

/// Calls `each` with the rows, until it returns false. On a damaged page keys may not rise, and a
/// reader would loop for ever.
pub(super) fn each_in_order<V: Value + 'static>(
    rows: Range<'_, (i64, u64), V>,
    mut each: impl FnMut((i64, u64), V::SelfType<'_>) -> bool,
) -> Result<(), FrontierError>
where
    (i64, u64): Key,
{
    let mut last = None;
    for entry in rows {
        let (key, row) = entry?;
        let key = key.value();
        if last.is_some_and(|last| last >= key) {
            return Err(FrontierError::Order);
        }
        last = Some(key);
        if !each(key, row.value()) {
            break;
        }
    }
    Ok(())
}
