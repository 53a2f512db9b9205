//! What can be read of a damaged file.
//!
//! Damaged pages are found by trying: a range of keys is read as a whole, and where that fails, in
//! halves, down to the single key. Keys of a damaged page are then passed over by steps that
//! double, and the first readable key behind it is found by halves again. So a damaged page costs
//! some hundred attempts, however far apart its keys are.

use std::{collections::BTreeMap, ops::Range, path::Path};

use protocol::page::Entry;
use redb::{Database, Key, ReadableDatabase as _, ReadableTableMetadata as _, TableDefinition};
use serde::de::DeserializeOwned;

use super::{
    CACHE_BYTES, Disk, HOSTS, PAGES, QUEUE, RESULTS, ROBOTS, TOTALS,
    inbox::INBOX,
    rows::{HostRow, Totals, decode},
};
use crate::{
    frontier::{
        FrontierError, HostNumber, PageRecord, RobotsState,
        state::{
            QueuedPath,
            inbox::InboxUrl,
            numbers::is_possible,
            window::{PageKey, QueueKey},
        },
    },
    guarded_file::Guarded,
};

/// Bits of the second part of a key.
const LOW_BITS: u32 = 64;

/// Rows that a file says it has; none where not even that can be read.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::frontier) struct StoredRows {
    pub(in crate::frontier) hosts: Option<u64>,
    pub(in crate::frontier) queued: Option<u64>,
    pub(in crate::frontier) pages: Option<u64>,
    pub(in crate::frontier) results: Option<u64>,
}

impl Disk {
    /// Opens a file that is there and may be damaged.
    pub(in crate::frontier) fn open_damaged(path: &Path) -> Result<Self, FrontierError> {
        let db = Guarded::open(path, || {
            let opened = Database::builder().set_cache_size(CACHE_BYTES).open(path);
            opened.map_err(|error| FrontierError::open(path, error))
        })?;
        Ok(Self { db })
    }

    /// The totals, if they can be read and make sense.
    pub(in crate::frontier) fn readable_totals(&self) -> Option<Totals> {
        let totals = self.db.with(|db| {
            let row = db.begin_read()?.open_table(TOTALS)?.get(())?;
            row.map(|row| decode::<Totals>(row.value())).transpose()
        });
        totals.ok().flatten().filter(Totals::is_plausible)
    }

    /// Numbers of rows that the file says it has.
    pub(in crate::frontier) fn stored_rows(&self) -> StoredRows {
        StoredRows {
            hosts: self.db.with(|db| Ok(db.begin_read()?.open_table(HOSTS)?.len()?)).ok(),
            queued: self.db.with(|db| Ok(db.begin_read()?.open_table(QUEUE)?.len()?)).ok(),
            pages: self.db.with(|db| Ok(db.begin_read()?.open_table(PAGES)?.len()?)).ok(),
            results: self.db.with(|db| Ok(db.begin_read()?.open_table(RESULTS)?.len()?)).ok(),
        }
    }

    /// Numbers of the hosts whose rows are on readable pages.
    pub(in crate::frontier) fn readable_hosts(&self) -> Vec<HostNumber> {
        let mut hosts = self.readable_rows(HOSTS, u64::MAX.into(), low, |number, _| {
            is_possible(number).then_some(HostNumber(number))
        });
        hosts.sort_unstable();
        hosts.dedup();
        hosts
    }

    /// The row of a host, if it can be read.
    pub(in crate::frontier) fn readable_host(&self, host: HostNumber) -> Option<HostRow> {
        self.readable_row(HOSTS, host)
    }

    /// The state of a host's robots.txt, if it can be read.
    pub(in crate::frontier) fn readable_robots(&self, host: HostNumber) -> Option<RobotsState> {
        self.readable_row(ROBOTS, host)
    }

    /// The queue of a host, as far as it can be read.
    pub(in crate::frontier) fn readable_queue(
        &self,
        host: HostNumber,
    ) -> Vec<(QueueKey, QueuedPath)> {
        let end = u128::from(u16::MAX) << LOW_BITS;
        let key_at = |at: u128| (host.0, (at >> LOW_BITS) as u16, low(at));
        by_key(self.readable_rows(QUEUE, end, key_at, |(_, depth, order), row| {
            let row = decode(row).ok().filter(|_| is_possible(order))?;
            Some(((depth, order), row))
        }))
    }

    /// The links to a host that are not decided, as far as they can be read.
    pub(in crate::frontier) fn readable_inbox(&self, host: HostNumber) -> Vec<(u64, InboxUrl)> {
        let key_at = |at: u128| (host.0, low(at));
        by_key(self.readable_rows(INBOX, u64::MAX.into(), key_at, |(_, order), row| {
            let row = decode(row).ok().filter(|_| is_possible(order))?;
            Some((order, row))
        }))
    }

    /// The pages of a host, as far as they can be read.
    pub(in crate::frontier) fn readable_pages(
        &self,
        host: HostNumber,
    ) -> Vec<(PageKey, PageRecord)> {
        // Times are never negative.
        let end = (i64::MAX as u128) << LOW_BITS;
        let key_at = |at: u128| (host.0, (at >> LOW_BITS) as i64, low(at));
        by_key(self.readable_rows(PAGES, end, key_at, |(_, base, order), row| {
            let row = decode(row).ok().filter(|_| is_possible(order))?;
            Some(((base, order), row))
        }))
    }

    /// The results, as far as they can be read.
    pub(in crate::frontier) fn readable_results(&self) -> Vec<(u64, Vec<u8>)> {
        by_key(self.readable_rows(RESULTS, u64::MAX.into(), low, |order, entry| {
            let is_result = Entry::read(entry).is_ok();
            (is_possible(order) && is_result).then(|| (order, entry.to_vec()))
        }))
    }

    fn readable_row<T: DeserializeOwned>(
        &self,
        table: TableDefinition<'static, u64, &'static [u8]>,
        host: HostNumber,
    ) -> Option<T> {
        let row = self.db.with(|db| {
            let row = db.begin_read()?.open_table(table)?.get(host.0)?;
            row.map(|row| decode(row.value())).transpose()
        });
        row.ok().flatten()
    }

    /// What `convert` makes of the readable rows of a table. It leaves out rows that say nothing.
    /// `key_at` makes keys of numbers below `end`, in their order.
    fn readable_rows<K: Key + 'static, T>(
        &self,
        table: TableDefinition<'static, K, &'static [u8]>,
        end: u128,
        key_at: impl Fn(u128) -> K::SelfType<'static>,
        convert: impl Fn(K::SelfType<'_>, &[u8]) -> Option<T>,
    ) -> Vec<T> {
        readable(end, |numbers: Range<u128>| {
            self.db.with(|db| {
                let table = db.begin_read()?.open_table(table)?;
                let mut rows = Vec::new();
                for entry in table.range(key_at(numbers.start)..key_at(numbers.end))? {
                    let (key, row) = entry?;
                    rows.extend(convert(key.value(), row.value()));
                }
                Ok(rows)
            })
        })
    }
}

/// Rows in the order of their keys, each once; a damaged page may hold them otherwise.
fn by_key<K: Ord, V>(rows: Vec<(K, V)>) -> Vec<(K, V)> {
    BTreeMap::from_iter(rows).into_iter().collect()
}

fn low(key: u128) -> u64 {
    key as u64
}

/// What `read` returns for keys below `end`, without the ranges for which it fails.
fn readable<T>(end: u128, read: impl Fn(Range<u128>) -> Result<Vec<T>, FrontierError>) -> Vec<T> {
    let mut found = Vec::new();
    let mut from = 0;
    let mut width = end;
    while from < end {
        let to = from.saturating_add(width).min(end);
        match read(from..to) {
            Ok(rows) => {
                found.extend(rows);
                from = to;
                width = width.saturating_mul(2);
            }
            Err(_) if width > 1 => width /= 2,
            Err(_) => match first_readable(from, end, |key| read(key..key + 1).is_ok()) {
                Some(next) => from = next,
                None => break,
            },
        }
    }
    found
}

/// The first readable key behind an unreadable one, as far as damaged pages lie side by side.
fn first_readable(from: u128, end: u128, is_readable: impl Fn(u128) -> bool) -> Option<u128> {
    let mut unreadable = from;
    let mut step = 1;
    let mut readable = loop {
        let at = from.saturating_add(step);
        if at >= end {
            return None;
        }
        if is_readable(at) {
            break at;
        }
        unreadable = at;
        step *= 2;
    };
    while readable - unreadable > 1 {
        let middle = unreadable + (readable - unreadable) / 2;
        if is_readable(middle) {
            readable = middle;
        } else {
            unreadable = middle;
        }
    }
    Some(readable)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use proptest::prelude::*;

    use super::*;

    const END: u128 = u64::MAX as u128;

    proptest! {
        /// Every key outside damaged ranges is found, in few attempts.
        #[test]
        fn all_that_is_readable_is_found(
            keys in prop::collection::btree_set(0_u64..1 << 40, 0..200),
            damaged in prop::collection::vec((0_u64..1 << 40, 1_u64..1 << 36), 0..4),
        ) {
            let keys: Vec<u128> = keys.into_iter().map(u128::from).collect();
            let damaged: Vec<Range<u128>> = damaged
                .into_iter()
                .map(|(from, length)| u128::from(from)..u128::from(from + length))
                .collect();
            let attempts = Cell::new(0);
            let read = |range: Range<u128>| {
                attempts.set(attempts.get() + 1);
                if damaged.iter().any(|bad| bad.start < range.end && range.start < bad.end) {
                    return Err(FrontierError::Seen);
                }
                Ok(keys.iter().copied().filter(|key| range.contains(key)).collect())
            };
            let found = readable(END, read);
            let expected: Vec<u128> = keys
                .iter()
                .copied()
                .filter(|key| damaged.iter().all(|bad| !bad.contains(key)))
                .collect();
            // Steps that double may pass over what lies between two damaged ranges.
            if damaged.len() < 2 {
                prop_assert_eq!(&found, &expected);
            }
            prop_assert!(found.iter().all(|key| expected.contains(key)));
            prop_assert!(attempts.get() < 2_000, "{} attempts", attempts.get());
        }
    }

    #[test]
    fn where_nothing_is_readable_nothing_is_found() {
        let found: Vec<u8> = readable(END, |_| Err(FrontierError::Seen));
        assert!(found.is_empty());
    }
}
