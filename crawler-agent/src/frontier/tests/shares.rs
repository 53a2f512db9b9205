//! Shares of the request slots, by a simulated crawl: healthy hosts keep their rate beside hosts
//! that answer slowly.

use std::{cmp::Reverse, collections::BinaryHeap, time::Duration};

use super::*;

const SLOTS: usize = 64;
/// Healthy hosts have the first numbers.
const HEALTHY: usize = 50;
/// Slow hosts: several for each slot.
const SLOW: usize = 250;
/// Pause after a request, in milliseconds.
const DELAY: u64 = 1_000;
/// Duration of a request to a healthy host, and for any robots.txt.
const FAST: u64 = 10;
/// Time that is simulated.
const END: u64 = 240_000;
/// Share of their rate that healthy hosts keep.
const KEPT: f64 = 0.95;

/// Duration of a slow host's request for a page, by the number of the page.
type SlowPage = fn(page: usize) -> u64;

/// A crawl of healthy and slow hosts. Times are milliseconds.
struct Crawl {
    workbench: Workbench,
    slow_page: SlowPage,
    /// Requests to each host, the first of which is for robots.txt.
    requests: Vec<usize>,
    /// Ends of running requests, with their durations and hosts.
    running: BinaryHeap<Reverse<(u64, u64, usize)>>,
    now: u64,
}

impl Crawl {
    fn new(slow_hosts: usize, slow_page: SlowPage) -> Self {
        let hosts = HEALTHY + slow_hosts;
        let mut workbench = Workbench::new(SLOTS);
        for host in 0..hosts {
            workbench.offer(HostNumber(host as u64), 0);
        }
        while let Some(host) = workbench.take_unresolved(0) {
            workbench.resolved(host);
        }
        Self { workbench, slow_page, requests: vec![0; hosts], running: BinaryHeap::new(), now: 0 }
    }

    /// Starts what may start, and goes to the time at which something happens next.
    fn step(&mut self) {
        while self.running.len() < SLOTS && self.start_request() {}
        let due = self.workbench.next_due().filter(|_| self.running.len() < SLOTS);
        let end = self.running.peek().map(|Reverse((end, ..))| *end);
        let next = due.into_iter().chain(end).min().expect("some host always has work");
        self.now = self.now.max(next);
        while let Some(Reverse((end, duration, host))) = self.running.peek().copied()
            && end <= self.now
        {
            self.running.pop();
            self.end_request(host, Duration::from_millis(duration));
        }
    }

    fn start_request(&mut self) -> bool {
        let Some(HostNumber(host)) = self.workbench.take(self.now) else { return false };
        let host = host as usize;
        let request = self.requests[host];
        self.requests[host] += 1;
        let is_fast = host < HEALTHY || request == 0;
        let duration = if is_fast { FAST } else { (self.slow_page)(request) };
        self.running.push(Reverse((self.now + duration, duration, host)));
        true
    }

    fn end_request(&mut self, host: usize, duration: Duration) {
        let number = HostNumber(host as u64);
        if self.requests[host] == 1 {
            self.workbench.robots_took(number, duration);
        } else {
            self.workbench.page_took(number, duration);
        }
        self.workbench.release(number, self.now + DELAY, true);
    }

    /// Requests a second to all healthy hosts, from their first pages on.
    fn healthy_rate(mut self) -> f64 {
        let healthy = 0..HEALTHY;
        while self.requests[healthy.clone()].iter().any(|requests| *requests < 2) {
            self.step();
        }
        let count = |crawl: &Self| crawl.requests[healthy.clone()].iter().sum::<usize>();
        let before = count(&self);
        let started = self.now;
        while self.now < END {
            self.step();
        }
        (count(&self) - before) as f64 * 1_000.0 / (self.now - started) as f64
    }
}

#[test]
fn healthy_hosts_keep_their_rate_beside_slow_ones() {
    let alone = Crawl::new(0, |_| 0).healthy_rate();
    let slow_pages: [(&str, SlowPage); 4] = [
        ("a silent host", |_| 20_000),
        ("a slow body", |_| 60_000),
        ("one page slow, one fast", |page| if page.is_multiple_of(2) { FAST } else { 60_000 }),
        ("slower with each page", |page| 1_000 * page as u64),
    ];
    for (name, slow_page) in slow_pages {
        let rate = Crawl::new(SLOW, slow_page).healthy_rate();
        assert!(rate >= KEPT * alone, "{name}: {rate} requests a second, alone {alone}");
    }
}
