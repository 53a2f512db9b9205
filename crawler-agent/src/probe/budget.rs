//! Budget of new targets: a token bucket per minute, so that no orders can turn the agent into a
//! scanner. Targets that were probed before are free.

use std::{
    collections::{HashSet, VecDeque},
    net::IpAddr,
    time::Duration,
};

/// Targets that are remembered as probed before.
const MAX_KNOWN: usize = 4_096;

/// A token bucket that holds the targets of one minute and fills evenly.
#[derive(Debug)]
pub(super) struct Budget {
    per_minute: u32,
    /// New targets that may be probed now.
    left: f64,
    /// When `left` was computed.
    at: Duration,
    known: HashSet<IpAddr>,
    /// The known targets, oldest first.
    order: VecDeque<IpAddr>,
}

/// Answer of the budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Grant {
    /// The target may be probed.
    Now,
    /// The budget is empty for this long.
    Later(Duration),
    /// The owner allows no new targets.
    Never,
}

impl Budget {
    pub(super) fn new(per_minute: u32) -> Self {
        let left = f64::from(per_minute);
        Self { per_minute, left, at: Duration::ZERO, known: HashSet::new(), order: VecDeque::new() }
    }

    /// Requests a target. `now` is read from any clock that does not go back.
    pub(super) fn request(&mut self, target: IpAddr, now: Duration) -> Grant {
        if self.known.contains(&target) {
            return Grant::Now;
        }
        if self.per_minute == 0 {
            return Grant::Never;
        }
        let per_second = f64::from(self.per_minute) / 60.0;
        let passed = now.saturating_sub(self.at).as_secs_f64();
        self.left = (self.left + passed * per_second).min(f64::from(self.per_minute));
        self.at = now;
        if self.left < 1.0 {
            let wait = Duration::from_secs_f64((1.0 - self.left) / per_second);
            // Rounded up: the caller must find a whole token when it comes back.
            return Grant::Later(wait + Duration::from_millis(1));
        }
        self.left -= 1.0;
        self.remember(target);
        Grant::Now
    }

    fn remember(&mut self, target: IpAddr) {
        if self.order.len() == MAX_KNOWN {
            self.order.pop_front().map(|oldest| self.known.remove(&oldest));
        }
        self.known.insert(target);
        self.order.push_back(target);
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    fn target(n: u32) -> IpAddr {
        IpAddr::V4(Ipv4Addr::from(n))
    }

    #[test]
    fn new_targets_are_limited_to_the_rate() {
        let mut budget = Budget::new(60);
        let mut now = Duration::ZERO;
        let mut spent = 0;
        for n in 0..1_000 {
            loop {
                match budget.request(target(n), now) {
                    Grant::Now => break,
                    Grant::Later(wait) => now += wait,
                    Grant::Never => panic!("never"),
                }
            }
            spent += 1;
            // A bucket full at the start, then one a second.
            assert!(f64::from(spent) <= 60.0 + now.as_secs_f64() + 1e-6, "{spent} after {now:?}");
        }
        assert!(now < Duration::from_secs(945), "and no slower: {now:?}");
    }

    #[test]
    fn known_targets_are_free() {
        let mut budget = Budget::new(1);
        assert_eq!(budget.request(target(1), Duration::ZERO), Grant::Now);
        assert_eq!(budget.request(target(1), Duration::ZERO), Grant::Now);
        assert!(matches!(budget.request(target(2), Duration::ZERO), Grant::Later(_)));
        assert_eq!(Budget::new(0).request(target(1), Duration::ZERO), Grant::Never);
    }

    #[test]
    fn memory_is_bounded() {
        let mut budget = Budget::new(u32::MAX);
        for n in 0..3 * MAX_KNOWN as u32 {
            budget.request(target(n), Duration::ZERO);
        }
        assert_eq!((budget.known.len(), budget.order.len()), (MAX_KNOWN, MAX_KNOWN));
    }
}
