//! When the last request to an address ended, so that a probe keeps its distance from it.

use std::{collections::HashMap, net::IpAddr};

/// Addresses that are remembered before old ones are forgotten.
const MAX_ADDRESSES: usize = 4_096;
/// Time for which the end of a request is remembered at least, in milliseconds: the next request
/// may ask for a longer pause. Where this one asks for more, its own pause counts.
const LEAST_REMEMBERED_MS: u64 = crate::robots::MAX_DELAY_MS as u64;

/// The last requests to addresses. Times are in milliseconds of the schedule's clock.
#[derive(Debug)]
pub(super) struct LastRequests {
    requests: HashMap<IpAddr, LastRequest>,
    /// Number of addresses at which those are forgotten that do not matter any more.
    most: usize,
}

#[derive(Debug)]
struct LastRequest {
    ended: u64,
    /// How long the address is left alone after it.
    pause: u64,
    /// From then on no pause after it is left.
    matters_until: u64,
}

impl Default for LastRequests {
    fn default() -> Self {
        Self { requests: HashMap::new(), most: MAX_ADDRESSES }
    }
}

impl LastRequests {
    /// Notes that a request to `address` has ended, after which `pause` is kept.
    pub(super) fn ended(&mut self, address: IpAddr, now: u64, pause: u64) {
        if self.requests.len() >= self.most {
            self.requests.retain(|_, last| last.matters_until > now);
            // With a long pause many matter: they are not looked through at each request.
            self.most = MAX_ADDRESSES.max(2 * self.requests.len());
        }
        // A longer rest that has begun before is not cut short.
        let rest =
            self.requests.get(&address).map_or(0, |last| last.ended.saturating_add(last.pause));
        let pause = pause.max(rest.saturating_sub(now));
        let matters_until = now.saturating_add(pause.max(LEAST_REMEMBERED_MS));
        self.requests.insert(address, LastRequest { ended: now, pause, matters_until });
    }

    /// When the next request to `address` may begin: `pause` after the end of the last, or later
    /// where that was slow.
    pub(super) fn next(&self, address: IpAddr, pause: u64) -> u64 {
        // One more, because both times are rounded down.
        let last = self.requests.get(&address);
        last.map_or(0, |last| last.ended.saturating_add(pause.max(last.pause)).saturating_add(1))
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    #[test]
    fn a_pause_counts_from_the_end_of_the_last_request() {
        let mut last = LastRequests::default();
        let address = IpAddr::V4(Ipv4Addr::LOCALHOST);
        assert_eq!(last.next(address, 100), 0);
        last.ended(address, 50, 100);
        assert_eq!(last.next(address, 100), 151);
        last.ended(address, 50, 700);
        assert_eq!(last.next(address, 100), 751, "it answered slowly");
        last.ended(address, 60, 100);
        assert_eq!(last.next(address, 100), 751, "and is still to be left alone");
    }

    #[test]
    fn memory_is_bounded_by_what_can_still_matter() {
        let mut last = LastRequests::default();
        let address = |n: u32| IpAddr::V4(Ipv4Addr::from(n));
        for n in 0..3 * MAX_ADDRESSES as u32 {
            last.ended(address(n), u64::from(n) * LEAST_REMEMBERED_MS, 0);
        }
        assert!(last.requests.len() <= MAX_ADDRESSES);
    }

    #[test]
    fn a_long_pause_is_kept_however_many_addresses_follow() {
        let mut last = LastRequests::default();
        let address = |n: u32| IpAddr::V4(Ipv4Addr::from(n));
        let pause = 10 * LEAST_REMEMBERED_MS;
        for n in 0..3 * MAX_ADDRESSES as u32 {
            last.ended(address(n), u64::from(n), pause);
        }
        assert_eq!(last.next(address(0), pause), pause + 1);
    }
}
