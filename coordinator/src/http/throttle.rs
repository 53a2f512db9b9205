//! Throttle for attempts to sign in.
//!
//! Attempts are counted per name and network together, so that a stranger cannot lock an admin out,
//! and per network alone, so that one machine cannot try one password on many names. Attempts from
//! IPv6 are counted per site as well, because the owner of a /48 has 65,536 networks. A few
//! failures are free; each further failure doubles the wait.

use std::collections::HashMap;
use std::net::IpAddr;

use model::UnixMillis;

use crate::http::network::Network;

/// Failures without a wait: for one name, for one network, and for one site of IPv6, which may be
/// that of a whole organisation.
const FREE: u32 = 5;
const FREE_PER_NETWORK: u32 = 20;
const FREE_PER_SITE: u32 = 100;
/// Longest wait. A count is dropped after the same time without a failure.
const WAIT_MAX_MS: i64 = 15 * 60 * 1_000;
/// Most counts kept. When there are more, the older half is dropped, which bounds the memory that a
/// flood of names takes.
const COUNTS_MAX: usize = 10_000;

#[derive(Clone, Copy, Debug)]
struct FailureCount {
    failures: u32,
    last: UnixMillis,
}

type Key = (Network, Option<String>);

/// Recent failures by name and network.
#[derive(Debug, Default)]
pub struct Throttle {
    counts: HashMap<Key, FailureCount>,
}

impl Throttle {
    /// How long the next attempt has to wait, in milliseconds; none when it is allowed now.
    pub fn wait_ms(&self, name: &str, from: IpAddr, now: UnixMillis) -> Option<u64> {
        let waits = keys(name, from).map(|(key, free)| {
            let count = self.counts.get(&key)?;
            let over = count.failures.checked_sub(free)?;
            let wait = (1_000_i64 << over.min(20)).min(WAIT_MAX_MS);
            // A failure in the future was recorded before the clock was set back.
            let is_in_future = count.last > now;
            let rest = u64::try_from(count.last.plus_ms(wait).0 - now.0).ok();
            rest.filter(|rest| *rest > 0 && !is_in_future)
        });
        waits.flatten().max()
    }

    /// Records a failure. The caller does this before it checks the password, so that concurrent
    /// attempts all count.
    pub fn record(&mut self, name: &str, from: IpAddr, now: UnixMillis) {
        if self.counts.len() >= COUNTS_MAX {
            self.drop_old_counts(now);
        }
        for (key, _) in keys(name, from) {
            let count = self.counts.entry(key).or_insert(FailureCount { failures: 0, last: now });
            let stale = count.last.plus_ms(WAIT_MAX_MS) < now;
            count.failures = if stale { 1 } else { count.failures.saturating_add(1) };
            count.last = now;
        }
    }

    /// Forgets the failures of a name and network after a correct password.
    pub fn forget(&mut self, name: &str, from: IpAddr) {
        for (key, _) in keys(name, from) {
            let is_of_name = key.1.is_some();
            if is_of_name {
                self.counts.remove(&key);
            } else {
                self.take_back_one(&key);
            }
        }
    }

    /// Takes back one record, of an attempt whose password was not checked after all.
    pub fn take_back(&mut self, name: &str, from: IpAddr) {
        for (key, _) in keys(name, from) {
            self.take_back_one(&key);
        }
    }

    fn take_back_one(&mut self, key: &Key) {
        if let Some(count) = self.counts.get_mut(key) {
            count.failures = count.failures.saturating_sub(1);
        }
    }

    fn drop_old_counts(&mut self, now: UnixMillis) {
        self.counts.retain(|_, count| count.last.plus_ms(WAIT_MAX_MS) >= now);
        if self.counts.len() < COUNTS_MAX {
            return;
        }
        let mut ages: Vec<UnixMillis> = self.counts.values().map(|count| count.last).collect();
        let (_, middle, _) = ages.select_nth_unstable(COUNTS_MAX / 2);
        let middle = *middle;
        self.counts.retain(|_, count| count.last > middle);
    }
}

/// The counts of an attempt, each with the failures that are free.
fn keys(name: &str, from: IpAddr) -> impl Iterator<Item = (Key, u32)> {
    let network = Network::from(from);
    let of_name = ((network, Some(name.to_owned())), FREE);
    let of_network = ((network, None), FREE_PER_NETWORK);
    let of_site = Network::site_of(from).map(|site| ((site, None), FREE_PER_SITE));
    [of_name, of_network].into_iter().chain(of_site)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: UnixMillis = UnixMillis(1_000_000);

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    fn failed(times: u32) -> Throttle {
        let mut throttle = Throttle::default();
        (0..times).for_each(|_| throttle.record("admin", ip("192.0.2.1"), NOW));
        throttle
    }

    #[test]
    fn a_few_failures_are_free_and_then_the_wait_doubles() {
        let wait = |times| failed(times).wait_ms("admin", ip("192.0.2.1"), NOW);
        assert_eq!(
            [wait(0), wait(4), wait(5), wait(6), wait(7)],
            [None, None, Some(1_000), Some(2_000), Some(4_000)]
        );
        assert_eq!(wait(1_000), Some(900_000));
    }

    #[test]
    fn others_are_not_locked_out() {
        let throttle = failed(10);
        assert_eq!(throttle.wait_ms("admin", ip("192.0.2.2"), NOW), None);
        assert_eq!(throttle.wait_ms("other", ip("192.0.2.1"), NOW), None);
        assert!(failed(20).wait_ms("other", ip("192.0.2.1"), NOW).is_some());
    }

    #[test]
    fn addresses_of_one_64_count_together() {
        let mut throttle = Throttle::default();
        (0..6).for_each(|n| throttle.record("admin", ip(&format!("2001:db8::{n}")), NOW));
        assert!(throttle.wait_ms("admin", ip("2001:db8::ffff"), NOW).is_some());
        assert!(throttle.wait_ms("admin", ip("2001:db8:0:1::"), NOW).is_none());
    }

    #[test]
    fn networks_of_one_48_count_together() {
        let from = |n: u32| ip(&format!("2001:db8:0:{n:x}::1"));
        let mut throttle = Throttle::default();
        (0..99).for_each(|n| throttle.record("admin", from(n), NOW));
        assert_eq!(throttle.wait_ms("admin", from(500), NOW), None);
        throttle.record("admin", from(99), NOW);
        assert_eq!(throttle.wait_ms("admin", from(500), NOW), Some(1_000));
        assert_eq!(throttle.wait_ms("admin", ip("2001:db8:1::1"), NOW), None);
        throttle.forget("admin", from(99));
        assert_eq!(throttle.wait_ms("admin", from(500), NOW), None);
    }

    #[test]
    fn success_and_time_reset_the_count() {
        let mut throttle = failed(6);
        assert_eq!(throttle.wait_ms("admin", ip("192.0.2.1"), NOW.plus_ms(2_000)), None);
        throttle.forget("admin", ip("192.0.2.1"));
        assert_eq!(throttle.wait_ms("admin", ip("192.0.2.1"), NOW), None);
        let mut throttle = failed(9);
        throttle.record("admin", ip("192.0.2.1"), NOW.plus_ms(WAIT_MAX_MS + 1));
        assert_eq!(throttle.wait_ms("admin", ip("192.0.2.1"), NOW.plus_ms(WAIT_MAX_MS + 1)), None);
    }

    #[test]
    fn an_attempt_that_was_not_checked_does_not_count() {
        let mut throttle = failed(5);
        throttle.take_back("admin", ip("192.0.2.1"));
        assert_eq!(throttle.wait_ms("admin", ip("192.0.2.1"), NOW), None);
        throttle.record("admin", ip("192.0.2.1"), NOW);
        assert_eq!(throttle.wait_ms("admin", ip("192.0.2.1"), NOW), Some(1_000));
    }

    #[test]
    fn a_clock_that_was_set_back_locks_nobody_out() {
        let day_before = NOW.plus_ms(-86_400_000);
        let mut throttle = failed(6);
        assert_eq!(throttle.wait_ms("admin", ip("192.0.2.1"), day_before), None);
        throttle.record("admin", ip("192.0.2.1"), day_before);
        assert_eq!(throttle.wait_ms("admin", ip("192.0.2.1"), day_before), Some(4_000));
    }

    #[test]
    fn a_flood_of_names_stays_bounded() {
        let mut throttle = Throttle::default();
        for n in 0..(3 * COUNTS_MAX) {
            throttle.record(
                &n.to_string(),
                ip("192.0.2.1"),
                NOW.plus_ms(i64::try_from(n).unwrap() / 100),
            );
        }
        assert!(throttle.counts.len() <= COUNTS_MAX + 2);
    }
}
