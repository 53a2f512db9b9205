//! Links to hosts that were not in memory, by host.

use std::collections::BTreeMap;

use model::UnixMillis;
use redb::{
    ReadableDatabase as _, ReadableTable as _, ReadableTableMetadata as _, Table, TableDefinition,
    WriteTransaction,
};

use super::{
    Disk,
    rows::{decode, encode},
};
use crate::frontier::{
    FrontierError, HostNumber,
    state::inbox::{InboxUrl, InboxUrls},
};

/// (Host, order) to [`InboxUrl`].
pub(super) const INBOX: TableDefinition<'_, (u64, u64), &[u8]> = TableDefinition::new("inbox");
/// (Time of its first link, host), of each host that has links.
const INBOX_HOSTS: TableDefinition<'_, (i64, u64), ()> = TableDefinition::new("inbox_hosts");

/// The links, open for writing.
pub(super) struct InboxTables<'t> {
    urls: Table<'t, (u64, u64), &'static [u8]>,
    hosts: Table<'t, (i64, u64), ()>,
}

impl<'t> InboxTables<'t> {
    /// Opens the tables; makes them in a new file.
    pub(super) fn open(write: &'t WriteTransaction) -> Result<Self, FrontierError> {
        Ok(Self { urls: write.open_table(INBOX)?, hosts: write.open_table(INBOX_HOSTS)? })
    }

    /// Adds links, which are sorted by host, each to the end of its host.
    pub(super) fn insert(
        &mut self,
        urls: &[(HostNumber, u64, InboxUrl)],
    ) -> Result<(), FrontierError> {
        for of_host in urls.chunk_by(|(one, ..), (next, ..)| one == next) {
            if let Some((host, _, first)) = of_host.first()
                && self.first(*host)?.is_none()
            {
                self.hosts.insert((first.at.0, host.0), ())?;
            }
            for (host, order, url) in of_host {
                self.urls.insert((host.0, *order), encode(url)?.as_slice())?;
            }
        }
        Ok(())
    }

    /// Deletes the links to a host.
    pub(super) fn delete(&mut self, host: HostNumber) -> Result<(), FrontierError> {
        if let Some(first) = self.first(host)? {
            self.hosts.remove((first.0, host.0))?;
            self.urls.retain_in((host.0, 0)..(host.0 + 1, 0), |_, _| false)?;
        }
        Ok(())
    }

    /// When the first link to a host came.
    fn first(&self, host: HostNumber) -> Result<Option<UnixMillis>, FrontierError> {
        let first = self.urls.range((host.0, 0)..(host.0 + 1, 0))?.next();
        let Some(first) = first.transpose()? else { return Ok(None) };
        Ok(Some(decode::<InboxUrl>(first.1.value())?.at))
    }
}

impl Disk {
    /// Number of the links.
    pub(in crate::frontier) fn inbox_len(&self) -> Result<u64, FrontierError> {
        self.db.with(|db| Ok(db.begin_read()?.open_table(INBOX)?.len()?))
    }

    /// The links to a host.
    pub(in crate::frontier) fn inbox(&self, host: HostNumber) -> Result<InboxUrls, FrontierError> {
        self.db.with(|db| {
            let table = db.begin_read()?.open_table(INBOX)?;
            let mut urls = BTreeMap::new();
            for entry in table.range((host.0, 0)..(host.0 + 1, 0))? {
                let (key, row) = entry?;
                // On a damaged page keys may not rise, and the loop would not end.
                if urls.insert(key.value().1, decode(row.value())?).is_some() {
                    return Err(FrontierError::Order);
                }
            }
            Ok(urls)
        })
    }

    /// Calls `each` with the hosts that have links, by the times of their first ones, until it
    /// returns false.
    pub(in crate::frontier) fn inbox_hosts(
        &self,
        mut each: impl FnMut(HostNumber, UnixMillis) -> bool,
    ) -> Result<(), FrontierError> {
        self.db.with(|db| {
            let table = db.begin_read()?.open_table(INBOX_HOSTS)?;
            super::work::each_in_order(table.iter()?, |(at, host), ()| {
                each(HostNumber(host), UnixMillis(at))
            })
        })
    }
}
