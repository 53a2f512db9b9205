//! Tables of the frontier's file.

use redb::{Database, ReadableTable as _, TableDefinition};

use super::FrontierError;

/// Counters and settings by name.
pub(super) const META: TableDefinition<'_, &str, u64> = TableDefinition::new("meta");
/// Scheme and authority to host number.
pub(super) const HOST_NUMBERS: TableDefinition<'_, &str, u64> =
    TableDefinition::new("host_numbers");
/// Host number to [`super::HostRecord`], as JSON.
pub(super) const HOSTS: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("hosts");
/// Host number to [`super::RobotsState`], as JSON.
pub(super) const ROBOTS: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("robots");
/// Fingerprints of URLs to [`REPORTED`] or [`QUEUED`]; those of a host that was released and came
/// back differ each time.
pub(super) const SEEN: TableDefinition<'_, [u8; 16], u8> = TableDefinition::new("seen");
/// (host, depth, order) to (URL, redirects, attempts): breadth first within a host.
pub(super) const QUEUE: TableDefinition<'_, (u64, u16, u64), (&str, u8, u8)> =
    TableDefinition::new("queue");
/// Order to one line of a package, as JSON.
pub(super) const RESULTS: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("results");
/// Number of a package that is not acknowledged, to the size of its file in bytes.
pub(super) const PACKAGES: TableDefinition<'_, u64, u64> = TableDefinition::new("packages");

/// (host, time of the last visit, order) to [`super::PageRecord`], as JSON: the pages of a host,
/// oldest visit first.
pub(super) const PAGES: TableDefinition<'_, (u64, i64, u64), &[u8]> = TableDefinition::new("pages");
/// Scheme and authority of former hosts, to how often they were released.
pub(super) const FORMER: TableDefinition<'_, &str, u64> = TableDefinition::new("former");
/// Number of an executed host order, to (last result before it, number after that of the package
/// that holds this result; 0 when it is not packed yet).
pub(super) const ORDERS: TableDefinition<'_, u64, (u64, u64)> = TableDefinition::new("orders");

/// Value in [`SEEN`]: the URL was reported to the coordinator.
pub(super) const REPORTED: u8 = 1;
/// Value in [`SEEN`]: the URL is, or was, in a queue.
pub(super) const QUEUED: u8 = 2;

pub(super) const EPOCH: &str = "epoch";
pub(super) const NEXT_ORDER: &str = "next_order";
pub(super) const NEXT_PACKAGE: &str = "next_package";
pub(super) const ROUTES_AFTER: &str = "routes_after";
pub(super) const FETCHED: &str = "fetched";
pub(super) const WIRE_BYTES: &str = "wire_bytes";

/// Creates missing tables; returns the epoch of the file.
pub(super) fn create(db: &Database, new_epoch: u64) -> Result<u64, FrontierError> {
    let write = db.begin_write()?;
    let epoch = {
        write.open_table(HOST_NUMBERS)?;
        write.open_table(HOSTS)?;
        write.open_table(ROBOTS)?;
        write.open_table(SEEN)?;
        write.open_table(QUEUE)?;
        write.open_table(RESULTS)?;
        write.open_table(PACKAGES)?;
        write.open_table(PAGES)?;
        write.open_table(FORMER)?;
        write.open_table(ORDERS)?;
        let mut meta = write.open_table(META)?;
        let known = meta.get(EPOCH)?.map(|epoch| epoch.value());
        if known.is_none() {
            meta.insert(EPOCH, new_epoch)?;
        }
        known.unwrap_or(new_epoch)
    };
    write.commit()?;
    Ok(epoch)
}
