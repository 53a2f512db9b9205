//! When the last request to an address ended, so that a probe keeps its distance from it.

use std::{collections::HashMap, net::IpAddr};

/// Addresses that are remembered before old ones are forgotten.
const MAX_ADDRESSES: usize = 4_096;
/// Longest pause that is asked for: the longest Crawl-delay, in milliseconds.
const LONGEST_PAUSE_MS: u64 = crate::robots::MAX_DELAY_MS as u64;

/// End of the last request to each address, in milliseconds of the schedule's clock.
#[derive(Debug, Default)]
pub(super) struct LastRequests(HashMap<IpAddr, u64>);

impl LastRequests {
    /// Notes that a request to `address` has ended.
    pub(super) fn ended(&mut self, address: IpAddr, now: u64) {
        if self.0.len() >= MAX_ADDRESSES {
            self.0.retain(|_, ended| ended.saturating_add(LONGEST_PAUSE_MS) > now);
        }
        self.0.insert(address, now);
    }

    /// When the next request to `address` may begin, `pause` after the end of the last.
    pub(super) fn next(&self, address: IpAddr, pause: u64) -> u64 {
        // One more, because both times are rounded down.
        self.0.get(&address).map_or(0, |ended| ended.saturating_add(pause).saturating_add(1))
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
        last.ended(address, 50);
        assert_eq!(last.next(address, 100), 151);
    }

    #[test]
    fn memory_is_bounded_by_what_can_still_matter() {
        let mut last = LastRequests::default();
        let address = |n: u32| IpAddr::V4(Ipv4Addr::from(n));
        for n in 0..3 * MAX_ADDRESSES as u32 {
            last.ended(address(n), u64::from(n) * LONGEST_PAUSE_MS);
        }
        assert!(last.0.len() <= MAX_ADDRESSES);
    }
}
