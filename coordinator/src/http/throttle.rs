//! Somebody tries passwords: may they try again?
//!
//! Tries are counted per name and network together, so that a stranger cannot lock an admin out,
//! and per network alone, so that one machine cannot try one password on many names. A few failures
//! are free; each further one doubles the wait.

use std::collections::HashMap;
use std::net::IpAddr;

use model::UnixMillis;

/// Failures without a wait: for one name, and for one network.
const FREE: u32 = 5;
const FREE_PER_NETWORK: u32 = 20;
/// Longest wait; a tally is forgotten after as long without a failure.
const WAIT_MAX_MS: i64 = 15 * 60 * 1_000;
/// Most tallies kept. When full the oldest go: a flood of names costs memory of this size and no
/// more.
const TALLIES_MAX: usize = 10_000;

/// Who tries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Network(u128);

#[derive(Clone, Copy, Debug)]
struct Tally {
    failures: u32,
    last: UnixMillis,
}

type Key = (Network, Option<String>);

/// Failed tries of late.
#[derive(Debug, Default)]
pub struct Throttle {
    tallies: HashMap<Key, Tally>,
}

impl Throttle {
    /// How long the next try has to wait, in milliseconds; none when it may come.
    pub fn wait_ms(&self, name: &str, from: IpAddr, now: UnixMillis) -> Option<u64> {
        let waits =
            keys(name, from).into_iter().zip([FREE, FREE_PER_NETWORK]).map(|(key, free)| {
                let tally = self.tallies.get(&key)?;
                let over = tally.failures.checked_sub(free)?;
                let wait = (1_000_i64 << over.min(20)).min(WAIT_MAX_MS);
                u64::try_from(tally.last.plus_ms(wait).0 - now.0).ok().filter(|wait| *wait > 0)
            });
        waits.flatten().max()
    }

    /// Counts a failure. Called before the password is looked at, so that tries at the same time
    /// all count.
    pub fn count(&mut self, name: &str, from: IpAddr, now: UnixMillis) {
        if self.tallies.len() >= TALLIES_MAX {
            self.make_room(now);
        }
        for key in keys(name, from) {
            let tally = self.tallies.entry(key).or_insert(Tally { failures: 0, last: now });
            let stale = tally.last.plus_ms(WAIT_MAX_MS) < now;
            tally.failures = if stale { 1 } else { tally.failures.saturating_add(1) };
            tally.last = now;
        }
    }

    /// Forgets the failures of somebody who knew the password.
    pub fn forget(&mut self, name: &str, from: IpAddr) {
        let [own, network] = keys(name, from);
        self.tallies.remove(&own);
        if let Some(tally) = self.tallies.get_mut(&network) {
            tally.failures = tally.failures.saturating_sub(1);
        }
    }

    fn make_room(&mut self, now: UnixMillis) {
        self.tallies.retain(|_, tally| tally.last.plus_ms(WAIT_MAX_MS) >= now);
        if self.tallies.len() < TALLIES_MAX {
            return;
        }
        let mut ages: Vec<UnixMillis> = self.tallies.values().map(|tally| tally.last).collect();
        let (_, middle, _) = ages.select_nth_unstable(TALLIES_MAX / 2);
        let middle = *middle;
        self.tallies.retain(|_, tally| tally.last > middle);
    }
}

fn keys(name: &str, from: IpAddr) -> [Key; 2] {
    let network = Network(match from.to_canonical() {
        IpAddr::V4(address) => u128::from(u32::from(address)),
        // Who has one IPv6 address usually has the /64 around it.
        IpAddr::V6(address) => u128::from(address) >> 64 | 1 << 127,
    });
    [(network, Some(name.to_owned())), (network, None)]
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
        (0..times).for_each(|_| throttle.count("admin", ip("192.0.2.1"), NOW));
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
    fn the_neighbours_in_a_64_are_the_same() {
        let mut throttle = Throttle::default();
        (0..6).for_each(|n| throttle.count("admin", ip(&format!("2001:db8::{n}")), NOW));
        assert!(throttle.wait_ms("admin", ip("2001:db8::ffff"), NOW).is_some());
        assert!(throttle.wait_ms("admin", ip("2001:db8:0:1::"), NOW).is_none());
    }

    #[test]
    fn success_and_time_heal() {
        let mut throttle = failed(6);
        assert_eq!(throttle.wait_ms("admin", ip("192.0.2.1"), NOW.plus_ms(2_000)), None);
        throttle.forget("admin", ip("192.0.2.1"));
        assert_eq!(throttle.wait_ms("admin", ip("192.0.2.1"), NOW), None);
        let mut throttle = failed(9);
        throttle.count("admin", ip("192.0.2.1"), NOW.plus_ms(WAIT_MAX_MS + 1));
        assert_eq!(throttle.wait_ms("admin", ip("192.0.2.1"), NOW.plus_ms(WAIT_MAX_MS + 1)), None);
    }

    #[test]
    fn a_flood_of_names_stays_bounded() {
        let mut throttle = Throttle::default();
        for n in 0..(3 * TALLIES_MAX) {
            throttle.count(
                &n.to_string(),
                ip("192.0.2.1"),
                NOW.plus_ms(i64::try_from(n).unwrap() / 100),
            );
        }
        assert!(throttle.tallies.len() <= TALLIES_MAX + 2);
    }
}
