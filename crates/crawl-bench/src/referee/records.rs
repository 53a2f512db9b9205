//! Records of requests, by host and address. Time is an argument.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::report::{Progress, Report};
use super::spacing::Spacing;
use crate::web::{FORBIDDEN, WebPlan, page_of};

/// What a path is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Resource {
    Page(u32),
    Robots,
    Forbidden,
    Unknown,
}

impl Resource {
    /// What a path is on a host with `pages` pages.
    pub(super) fn of(path: &[u8], pages: u32) -> Self {
        match page_of(path).filter(|page| *page < pages) {
            Some(page) => Self::Page(page),
            None if path == b"/robots.txt" => Self::Robots,
            None if path == FORBIDDEN.as_bytes() => Self::Forbidden,
            None => Self::Unknown,
        }
    }
}

/// One host's record.
#[derive(Debug, Clone, Default)]
struct HostRecord {
    spacing: Spacing,
    /// Requests by page.
    pages: Vec<u32>,
    robots: u32,
    page_before_robots: bool,
    forbidden: u64,
    unknown: u64,
}

/// All records; the threads of the server share them. Each host has its own lock, so that they
/// hardly ever wait.
#[derive(Debug)]
pub(super) struct Records {
    hosts: Vec<Mutex<HostRecord>>,
    /// The one address of all hosts; none where each host has its own.
    address: Option<Mutex<Spacing>>,
    first_begin: AtomicU64,
    last_page_end: AtomicU64,
    last_end: AtomicU64,
    requests: AtomicU64,
    unique: AtomicU64,
    connections: AtomicU64,
    plain_bytes: AtomicU64,
    wire_bytes: AtomicU64,
}

impl Records {
    pub(super) fn new(plan: &WebPlan) -> Self {
        let empty = HostRecord { pages: vec![0; plan.pages as usize], ..HostRecord::default() };
        Self {
            hosts: (0..plan.hosts).map(|_| Mutex::new(empty.clone())).collect(),
            address: plan.one_address.then(Mutex::default),
            first_begin: AtomicU64::new(u64::MAX),
            last_page_end: AtomicU64::new(0),
            last_end: AtomicU64::new(0),
            requests: AtomicU64::new(0),
            unique: AtomicU64::new(0),
            connections: AtomicU64::new(0),
            plain_bytes: AtomicU64::new(0),
            wire_bytes: AtomicU64::new(0),
        }
    }

    /// A connection was accepted.
    pub(super) fn connected(&self) {
        self.connections.fetch_add(1, Ordering::Relaxed);
    }

    /// A request for a host has arrived.
    pub(super) fn begin(&self, host: u32, what: Resource, now: Duration) {
        self.requests.fetch_add(1, Ordering::Relaxed);
        if self.first_begin.load(Ordering::Relaxed) == u64::MAX {
            self.first_begin.fetch_min(nanos(now), Ordering::Relaxed);
        }
        if let Some(address) = &self.address {
            lock(address).begin(now);
        }
        let Some(record) = self.hosts.get(host as usize) else { return };
        let mut record = lock(record);
        record.spacing.begin(now);
        match what {
            Resource::Page(page) => {
                record.page_before_robots |= record.robots == 0;
                let Some(times) = record.pages.get_mut(page as usize) else { return };
                *times += 1;
                if *times == 1 {
                    self.unique.fetch_add(1, Ordering::Relaxed);
                }
            }
            Resource::Robots => record.robots += 1,
            Resource::Forbidden => record.forbidden += 1,
            Resource::Unknown => record.unknown += 1,
        }
    }

    /// The answer is out, or its client has gone; `bytes` are those of a page, before compression
    /// and as sent.
    pub(super) fn end(&self, host: u32, what: Resource, bytes: (usize, usize), now: Duration) {
        if let Some(record) = self.hosts.get(host as usize) {
            lock(record).spacing.end(now);
        }
        if let Some(address) = &self.address {
            lock(address).end(now);
        }
        self.last_end.fetch_max(nanos(now), Ordering::Relaxed);
        if let Resource::Page(_) = what {
            self.last_page_end.fetch_max(nanos(now), Ordering::Relaxed);
            self.plain_bytes.fetch_add(bytes.0 as u64, Ordering::Relaxed);
            self.wire_bytes.fetch_add(bytes.1 as u64, Ordering::Relaxed);
        }
    }

    /// How far the crawl has come.
    pub(super) fn progress(&self) -> Progress {
        Progress {
            requests: self.requests.load(Ordering::Relaxed),
            unique: self.unique.load(Ordering::Relaxed),
        }
    }

    /// Everything so far, except what the process used.
    pub(super) fn report(&self) -> Report {
        let Progress { requests, unique } = self.progress();
        let mut report = Report {
            requests,
            unique,
            connections: self.connections.load(Ordering::Relaxed),
            span_s: self.span_s(&self.last_page_end),
            request_span_s: self.span_s(&self.last_end),
            plain_bytes: self.plain_bytes.load(Ordering::Relaxed),
            wire_bytes: self.wire_bytes.load(Ordering::Relaxed),
            ..Report::default()
        };
        for record in &self.hosts {
            add_host(&mut report, &lock(record));
        }
        let address = self.address.as_ref().map(|address| *lock(address));
        let hosts = (report.most_in_flight, report.smallest_gap_ms);
        (report.most_in_flight_address, report.smallest_gap_address_ms) = match address {
            Some(spacing) => (spacing.most_in_flight(), spacing.smallest_gap().map(ms)),
            None => hosts,
        };
        report
    }

    /// From the first request to `end`.
    fn span_s(&self, end: &AtomicU64) -> f64 {
        let first = self.first_begin.load(Ordering::Relaxed);
        let last = end.load(Ordering::Relaxed);
        Duration::from_nanos(last.saturating_sub(first)).as_secs_f64()
    }
}

fn add_host(report: &mut Report, record: &HostRecord) {
    report.repeated +=
        record.pages.iter().map(|times| u64::from(times.saturating_sub(1))).sum::<u64>();
    report.robots += u64::from(record.robots);
    report.hosts_with_robots += u64::from(record.robots > 0);
    report.hosts_without_robots += u64::from(record.page_before_robots);
    report.forbidden += record.forbidden;
    report.unknown += record.unknown;
    report.most_in_flight = report.most_in_flight.max(record.spacing.most_in_flight());
    if let Some(gap) = record.spacing.smallest_gap().map(ms) {
        let smallest = report.smallest_gap_ms.map_or(gap, |smallest| smallest.min(gap));
        report.smallest_gap_ms = Some(smallest);
    }
}

fn ms(gap: Duration) -> f64 {
    gap.as_secs_f64() * 1_000.0
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: WebPlan = WebPlan { hosts: 2, pages: 3, one_address: true, gzip: false };

    fn serve(records: &Records, host: u32, path: &str, from_ms: u64, to_ms: u64) {
        let what = Resource::of(path.as_bytes(), PLAN.pages);
        records.begin(host, what, Duration::from_millis(from_ms));
        records.end(host, what, (7_000, 2_500), Duration::from_millis(to_ms));
    }

    #[test]
    fn requests_are_counted_by_what_they_are_for() {
        let records = Records::new(&PLAN);
        serve(&records, 0, "/robots.txt", 1_000, 1_001);
        serve(&records, 0, "/", 1_100, 1_101);
        serve(&records, 0, "/pages/2.html", 1_201, 1_202);
        serve(&records, 0, "/pages/2.html", 1_302, 1_303);
        serve(&records, 1, "/pages/3.html", 1_310, 1_311);
        serve(&records, 1, FORBIDDEN, 1_360, 1_361);
        serve(&records, 1, "/pages/1.html", 2_000, 2_500);
        let report = records.report();
        let counts = [report.unique, report.repeated, report.robots, report.hosts_with_robots];
        assert_eq!(counts, [3, 1, 1, 1]);
        assert_eq!((report.unknown, report.forbidden, report.hosts_without_robots), (1, 1, 1));
        assert_eq!(report.requests, 7);
        assert_eq!((report.plain_bytes, report.wire_bytes), (28_000, 10_000));
        assert!((report.span_s - 1.5).abs() < 1e-9);
    }

    #[test]
    fn gaps_at_the_shared_address_are_apart_from_those_of_hosts() {
        let records = Records::new(&PLAN);
        serve(&records, 0, "/", 1_000, 1_001);
        serve(&records, 1, "/", 1_011, 1_012);
        serve(&records, 0, "/pages/1.html", 1_101, 1_102);
        let report = records.report();
        assert_eq!(report.smallest_gap_ms, Some(100.0));
        assert_eq!(report.smallest_gap_address_ms, Some(10.0));
        assert_eq!((report.most_in_flight, report.most_in_flight_address), (1, 1));
    }
}
