//! Admission of URLs: into the queue of a host of the agent, to the coordinator, or nowhere.

use std::collections::HashMap;

use model::{CrawlUrl, Fingerprint, UnixMillis};
use protocol::{page::Discovered, page::Entry, page::MAX_REDIRECTS};
use redb::{ReadableTable as _, Table, WriteTransaction};

use super::{
    Bounds, FrontierError, HostNumber, HostRecord,
    tables::{
        self, FORMER, HOST_NUMBERS, HOSTS, META, ORDERS, PAGES, QUEUE, QUEUED, REPORTED, RESULTS,
        ROBOTS, SEEN,
    },
};

/// The open tables of one write transaction.
pub(super) struct Transaction<'t> {
    pub(super) meta: Table<'t, &'static str, u64>,
    pub(super) hosts: Table<'t, u64, &'static [u8]>,
    pub(super) queue: Table<'t, (u64, u16, u64), (&'static str, u8, u8)>,
    pub(super) results: Table<'t, u64, &'static [u8]>,
    pub(super) pages: Table<'t, (u64, i64, u64), &'static [u8]>,
    pub(super) orders: Table<'t, u64, (u64, u64)>,
    pub(super) robots: Table<'t, u64, &'static [u8]>,
    former: Table<'t, &'static str, u64>,
    numbers: Table<'t, &'static str, u64>,
    seen: Table<'t, [u8; 16], u8>,
    next_order: u64,
    /// Hosts looked up in this transaction; none stands for a host of another agent. A page leads
    /// to few hosts many times.
    known: HashMap<String, Option<HostNumber>>,
}

/// A URL that is to be admitted.
pub(super) struct Arrival<'a> {
    pub(super) url: &'a CrawlUrl,
    pub(super) depth: u16,
    pub(super) redirects: u8,
}

/// Result of admitting a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Admission {
    /// The URL is in the queue of this host.
    Queued(HostNumber),
    /// The URL was seen before, exceeds a bound, or was reported to the coordinator.
    Ignored,
    /// The host has reached its limit of pages.
    Full,
}

impl<'t> Transaction<'t> {
    pub(super) fn open(write: &'t WriteTransaction) -> Result<Self, FrontierError> {
        let meta = write.open_table(META)?;
        let next_order = meta.get(tables::NEXT_ORDER)?.map_or(1, |n| n.value());
        Ok(Self {
            meta,
            hosts: write.open_table(HOSTS)?,
            queue: write.open_table(QUEUE)?,
            results: write.open_table(RESULTS)?,
            pages: write.open_table(PAGES)?,
            orders: write.open_table(ORDERS)?,
            robots: write.open_table(ROBOTS)?,
            former: write.open_table(FORMER)?,
            numbers: write.open_table(HOST_NUMBERS)?,
            seen: write.open_table(SEEN)?,
            next_order,
            known: HashMap::new(),
        })
    }

    pub(super) fn close(mut self) -> Result<(), FrontierError> {
        self.meta.insert(tables::NEXT_ORDER, self.next_order)?;
        Ok(())
    }

    pub(super) fn add(&mut self, key: &'static str, more: u64) -> Result<(), FrontierError> {
        let sum = self.meta.get(key)?.map_or(0, |n| n.value()).saturating_add(more);
        self.meta.insert(key, sum)?;
        Ok(())
    }

    pub(super) fn record(&self, host: HostNumber) -> Result<Option<HostRecord>, FrontierError> {
        let json = self.hosts.get(host.0)?;
        Ok(json.map(|json| serde_json::from_slice(json.value())).transpose()?)
    }

    pub(super) fn put_record(
        &mut self,
        host: HostNumber,
        record: &HostRecord,
    ) -> Result<(), FrontierError> {
        self.hosts.insert(host.0, serde_json::to_vec(record)?.as_slice())?;
        Ok(())
    }

    pub(super) fn result(&mut self, entry: &Entry) -> Result<(), FrontierError> {
        let order = self.next_order();
        self.results.insert(order, serde_json::to_vec(entry)?.as_slice())?;
        Ok(())
    }

    /// The host of this URL, which is the agent's from now on.
    pub(super) fn acquire_host(
        &mut self,
        url: &CrawlUrl,
        at: UnixMillis,
    ) -> Result<HostNumber, FrontierError> {
        let key = url.host_key().to_string();
        if let Some(host) = self.host(&key)? {
            return Ok(host);
        }
        // Host numbers are never reused, so late changes for a released host find nothing.
        let host = HostNumber(self.next_order());
        self.numbers.insert(key.as_str(), host.0)?;
        let tenure = self.former.get(key.as_str())?.map_or(0, |times| times.value());
        let record = HostRecord { key: key.clone(), due: at, accepted: 0, failures: 0, tenure };
        self.put_record(host, &record)?;
        self.known.insert(key, Some(host));
        Ok(host)
    }

    /// Removes a host that was released. If it comes back, its URLs count as never seen.
    pub(super) fn forget(&mut self, host: HostNumber) -> Result<(), FrontierError> {
        let Some(record) = self.record(host)? else { return Ok(()) };
        self.robots.remove(host.0)?;
        self.hosts.remove(host.0)?;
        self.numbers.remove(record.key.as_str())?;
        self.former.insert(record.key.as_str(), record.tenure + 1)?;
        self.known.insert(record.key, None);
        Ok(())
    }

    /// Admits a URL that a page links or redirects to.
    pub(super) fn admit_link(
        &mut self,
        arrival: &Arrival<'_>,
        bounds: Bounds,
    ) -> Result<Admission, FrontierError> {
        // The chain may lead over several hosts and agents, so the count travels with the URL.
        if arrival.redirects > MAX_REDIRECTS {
            return Ok(Admission::Ignored);
        }
        match self.host(arrival.url.host_key().as_str())? {
            Some(_) if arrival.depth > bounds.depth => Ok(Admission::Ignored),
            Some(host) => self.enqueue(host, arrival, bounds),
            None => self.report(arrival),
        }
    }

    /// Queues a URL, unless it was ever queued.
    pub(super) fn enqueue(
        &mut self,
        host: HostNumber,
        arrival: &Arrival<'_>,
        bounds: Bounds,
    ) -> Result<Admission, FrontierError> {
        let Some(mut record) = self.record(host)? else { return Ok(Admission::Ignored) };
        let fingerprint = in_tenure(arrival.url.fingerprint(), record.tenure);
        // A URL that was only reported may be queued: its host has become the agent's since.
        if self.seen.get(fingerprint)?.is_some_and(|seen| seen.value() == QUEUED) {
            return Ok(Admission::Ignored);
        }
        // Counted over the lifetime of the host: traps such as endless calendars end here.
        if record.accepted >= bounds.pages_a_host {
            return Ok(Admission::Full);
        }
        record.accepted += 1;
        self.put_record(host, &record)?;
        self.seen.insert(fingerprint, QUEUED)?;
        let key = (host.0, arrival.depth, self.next_order());
        self.queue.insert(key, (arrival.url.as_str(), arrival.redirects, 0))?;
        Ok(Admission::Queued(host))
    }

    /// Reports a URL of another agent's host to the coordinator, once.
    fn report(&mut self, arrival: &Arrival<'_>) -> Result<Admission, FrontierError> {
        let fingerprint = arrival.url.fingerprint();
        if self.seen.get(fingerprint)?.is_none() {
            self.seen.insert(fingerprint, REPORTED)?;
            let url = arrival.url.to_string();
            let redirects = arrival.redirects;
            self.result(&Entry::Discovered(Discovered { url, redirects, handed_back: false }))?;
        }
        Ok(Admission::Ignored)
    }

    fn host(&mut self, key: &str) -> Result<Option<HostNumber>, FrontierError> {
        if let Some(host) = self.known.get(key) {
            return Ok(*host);
        }
        let host = self.numbers.get(key)?.map(|n| HostNumber(n.value()));
        self.known.insert(key.to_owned(), host);
        Ok(host)
    }

    fn next_order(&mut self) -> u64 {
        let order = self.next_order;
        self.next_order += 1;
        order
    }

    /// The largest number that was given so far.
    pub(super) fn last_order(&self) -> u64 {
        self.next_order - 1
    }
}

/// A fingerprint that differs each time the host comes back, so that the old ones need not be
/// deleted when it is released.
fn in_tenure(mut fingerprint: Fingerprint, tenure: u64) -> Fingerprint {
    for (byte, salt) in fingerprint.iter_mut().zip(tenure.to_be_bytes()) {
        *byte ^= salt;
    }
    fingerprint
}
