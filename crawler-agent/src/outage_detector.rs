//! Detection of outages: whether the agent's own uplink, or its name servers, have failed.
//!
//! Without an uplink every host looks dead: pages would count as failed and hosts would be given
//! up, all at once. So failures do not count against hosts while many were tried and none was
//! reached.

use std::{
    collections::HashSet,
    hash::{DefaultHasher, Hash, Hasher as _},
    sync::Mutex,
    time::Duration,
};

use tokio::time::Instant;

use crate::lock::lock;

/// Number of hosts in a row, at as many addresses, that are unreachable in an outage. Dead hosts
/// are seldom that many in a row. The failures of the hosts before the last one count.
const MANY: usize = 8;

/// The same where the coordinator cannot be reached either.
const FEW: usize = 2;

/// After this time failures count again: nothing that the agent visits may be there any more.
const LONGEST: Duration = Duration::from_hours(24);

/// Time for which no outage begins after something else proved that the uplink works. Longer than a
/// request, whose failure does not count if it began in the outage: otherwise many dead hosts in a
/// row would never be given up.
const PROVED: Duration = Duration::from_secs(40);

/// An outage that was shorter is no reason for the failure of a request that ends after it.
const BRIEF: Duration = Duration::from_secs(10);

/// Time that the network gets after the machine was suspended.
const AFTER_SUSPENSION: Duration = Duration::from_mins(1);

/// What was reached lately through the uplink, or through name servers.
#[derive(Debug, Default)]
pub struct OutageDetector(Mutex<Misses>);

/// The hosts that were not reached since one was.
#[derive(Debug, Default)]
struct Misses {
    /// Hashes of the hosts, at most [`MANY`].
    hosts: HashSet<u64>,
    /// Hashes of their addresses, at most [`MANY`].
    addresses: HashSet<u64>,
    /// Whether the coordinator was not reached either.
    is_doubted: bool,
    /// When the outage began, if there is one.
    since: Option<Instant>,
    /// When the last outage, or suspension, ended.
    ended_at: Option<Instant>,
    reached_at: Option<Instant>,
    proved_until: Option<Instant>,
    suspended_until: Option<Instant>,
}

impl OutageDetector {
    /// Notes that a host was reached.
    pub fn reached(&self, now: Instant) {
        let mut misses = lock(&self.0);
        misses.end(now);
        misses.reached_at = Some(now);
    }

    /// Notes that the uplink works, though no host was reached.
    pub fn proved(&self, now: Instant) {
        let mut misses = lock(&self.0);
        if misses.outage(now).is_some() {
            misses.proved_until = Some(now + PROVED);
        }
        misses.end(now);
    }

    /// Notes that a host could not be reached at an address.
    pub fn missed(&self, host: impl Hash, address: impl Hash, now: Instant) {
        let mut misses = lock(&self.0);
        if misses.proved_until.is_some_and(|until| now < until) {
            return;
        }
        if misses.hosts.len() < MANY {
            misses.hosts.insert(hash(host));
        }
        if misses.addresses.len() < MANY {
            misses.addresses.insert(hash(address));
        }
        misses.judge(now);
    }

    /// Notes that the coordinator could not be reached.
    pub fn doubt(&self, now: Instant) {
        let mut misses = lock(&self.0);
        misses.is_doubted = true;
        misses.judge(now);
    }

    /// Notes that the coordinator answers.
    pub fn trust(&self, now: Instant) {
        let mut misses = lock(&self.0);
        misses.is_doubted = false;
        if misses.is_suspended(now) {
            misses.suspended_until = None;
            misses.ended_at = Some(now);
        }
        // Few misses are enough only while the coordinator is away as well.
        if !misses.are_enough() && misses.since.take().is_some() {
            misses.ended_at = Some(now);
        }
    }

    /// Notes that the machine was suspended until now.
    pub fn suspended(&self, now: Instant) {
        let mut misses = lock(&self.0);
        misses.suspended_until = Some(now + AFTER_SUSPENSION);
        misses.ended_at = misses.suspended_until;
    }

    /// How long the outage has lasted; none while there is none.
    pub fn outage(&self, now: Instant) -> Option<Duration> {
        lock(&self.0).outage(now)
    }

    /// Like [`Self::outage`], but also an outage that ended after `began`: a request that began
    /// then may have failed because of it.
    pub fn outage_since(&self, began: Instant, now: Instant) -> Option<Duration> {
        let misses = lock(&self.0);
        let has_just_ended = misses.ended_at.is_some_and(|ended| began < ended);
        misses.outage(now).or(has_just_ended.then_some(Duration::ZERO))
    }

    /// Whether a host was reached in the last `time`.
    pub fn was_reached_within(&self, time: Duration, now: Instant) -> bool {
        lock(&self.0).reached_at.is_some_and(|at| now.duration_since(at) < time)
    }
}

impl Misses {
    /// Begins an outage where the misses are enough.
    fn judge(&mut self, now: Instant) {
        if self.are_enough() {
            self.since.get_or_insert(now);
        }
    }

    fn are_enough(&self) -> bool {
        let enough = if self.is_doubted { FEW } else { MANY };
        self.hosts.len().min(self.addresses.len()) >= enough
    }

    /// Whether the network may not be up again yet after a suspension.
    fn is_suspended(&self, now: Instant) -> bool {
        self.suspended_until.is_some_and(|until| now < until)
    }

    fn end(&mut self, now: Instant) {
        if self.is_suspended(now) || self.outage(now).is_some_and(|lasted| lasted >= BRIEF) {
            self.ended_at = Some(now);
        }
        self.hosts.clear();
        self.addresses.clear();
        self.is_doubted = false;
        self.since = None;
        self.suspended_until = None;
    }

    fn outage(&self, now: Instant) -> Option<Duration> {
        if self.is_suspended(now) {
            return Some(Duration::ZERO);
        }
        let lasts = now.duration_since(self.since?);
        (lasts < LONGEST).then_some(lasts)
    }
}

fn hash(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn missed(detector: &OutageDetector, hosts: std::ops::Range<u32>, now: Instant) {
        for host in hosts {
            detector.missed(host, host, now);
        }
    }

    #[test]
    fn many_hosts_in_a_row_are_an_outage_until_one_is_reached() {
        let detector = OutageDetector::default();
        let start = Instant::now();
        let later = start + Duration::from_mins(5);
        missed(&detector, 0..7, start);
        missed(&detector, 0..7, start);
        assert_eq!(detector.outage(start), None, "one host may fail many times");
        detector.missed("another", "another", start);
        missed(&detector, 0..100, later);
        assert_eq!(detector.outage(later), Some(Duration::from_mins(5)));
        detector.reached(later);
        assert_eq!(detector.outage(later), None);
        missed(&detector, 0..7, later);
        assert_eq!(detector.outage(later), None);
        let after = later + Duration::from_secs(10);
        assert!(detector.was_reached_within(Duration::from_secs(11), after));
        assert!(!detector.was_reached_within(Duration::from_secs(10), after));
    }

    #[test]
    fn neither_many_addresses_of_a_host_nor_many_hosts_at_one_are_an_outage() {
        let now = Instant::now();
        let one_host = OutageDetector::default();
        let one_address = OutageDetector::default();
        for n in 0..20 {
            one_host.missed("host", n, now);
            one_address.missed(n, "address", now);
        }
        assert_eq!((one_host.outage(now), one_address.outage(now)), (None, None));
    }

    #[test]
    fn few_are_enough_where_the_coordinator_cannot_be_reached() {
        let now = Instant::now();
        let detector = OutageDetector::default();
        missed(&detector, 0..2, now);
        detector.doubt(now);
        assert_eq!(detector.outage(now), Some(Duration::ZERO));
        detector.reached(now);
        missed(&detector, 0..2, now);
        assert_eq!(detector.outage(now), None);
        detector.doubt(now);
        assert!(detector.outage(now).is_some());
        detector.trust(now);
        assert_eq!(detector.outage(now), None);
        missed(&detector, 0..8, now);
        detector.trust(now);
        assert!(detector.outage(now).is_some(), "many are enough");
    }

    #[test]
    fn what_began_before_the_end_of_an_outage_does_not_count() {
        let start = Instant::now();
        let detector = OutageDetector::default();
        missed(&detector, 0..8, start);
        let end = start + BRIEF;
        detector.reached(end);
        let later = end + Duration::from_secs(5);
        assert_eq!(
            detector.outage_since(end - Duration::from_secs(1), later),
            Some(Duration::ZERO)
        );
        assert_eq!(detector.outage_since(end, later), None);
        missed(&detector, 0..8, later);
        detector.reached(later + BRIEF / 2);
        let now = later + BRIEF;
        assert_eq!(detector.outage_since(later, now), None, "it was brief");
    }

    #[test]
    fn failures_count_for_a_moment_where_something_else_is_reached() {
        let detector = OutageDetector::default();
        let start = Instant::now();
        missed(&detector, 0..7, start);
        detector.proved(start);
        missed(&detector, 0..8, start);
        assert!(detector.outage(start).is_some(), "there was no outage to end");
        detector.proved(start);
        missed(&detector, 0..8, start);
        assert_eq!(detector.outage(start), None);
        // The failures of requests of twenty seconds count before another outage can begin.
        let failed = start + PROVED - Duration::from_secs(1);
        missed(&detector, 0..8, failed);
        assert_eq!(detector.outage_since(failed - Duration::from_secs(20), failed), None);
        let after = start + PROVED;
        missed(&detector, 0..8, after);
        assert!(detector.outage(after).is_some());
    }

    #[test]
    fn failures_count_again_after_a_day_of_outage() {
        let detector = OutageDetector::default();
        let first = Instant::now();
        missed(&detector, 0..7, first);
        let start = first + LONGEST;
        missed(&detector, 7..8, start);
        assert!(detector.outage(start + LONGEST - Duration::from_secs(1)).is_some());
        assert_eq!(detector.outage(start + LONGEST), None);
    }

    #[test]
    fn nothing_counts_just_after_a_suspension_until_a_host_is_reached() {
        let detector = OutageDetector::default();
        let now = Instant::now();
        detector.suspended(now);
        assert!(detector.outage(now + AFTER_SUSPENSION - Duration::from_secs(1)).is_some());
        assert_eq!(detector.outage(now + AFTER_SUSPENSION), None);
        detector.suspended(now);
        detector.reached(now);
        assert_eq!(detector.outage(now), None);
    }
}
