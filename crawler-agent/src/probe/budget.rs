//! How many addresses may be probed that were not probed before? So many a minute, so that no order
//! can make a scanner of the agent. Targets that are known cost nothing.

use std::{
    collections::{HashSet, VecDeque},
    net::IpAddr,
    time::Duration,
};

/// Targets that are remembered.
const KNOWN: usize = 4_096;

/// A bucket that holds a minute's worth of targets and fills evenly.
#[derive(Debug)]
pub(super) struct Budget {
    per_minute: u32,
    /// Targets that may be spent.
    left: f64,
    /// When `left` was true.
    at: Duration,
    known: HashSet<IpAddr>,
    order: VecDeque<IpAddr>,
}

/// Whether a target may be probed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Spend {
    /// Yes; it is paid for.
    Now,
    /// Ask again after this time.
    Later(Duration),
    /// The owner allows no new targets.
    Never,
}

impl Budget {
    pub(super) fn new(per_minute: u32) -> Self {
        let left = f64::from(per_minute);
        Self { per_minute, left, at: Duration::ZERO, known: HashSet::new(), order: VecDeque::new() }
    }

    /// Asks for one target. `now` is on any clock that does not go back.
    pub(super) fn spend(&mut self, target: IpAddr, now: Duration) -> Spend {
        if self.known.contains(&target) {
            return Spend::Now;
        }
        if self.per_minute == 0 {
            return Spend::Never;
        }
        let a_second = f64::from(self.per_minute) / 60.0;
        let passed = now.saturating_sub(self.at).as_secs_f64();
        self.left = (self.left + passed * a_second).min(f64::from(self.per_minute));
        self.at = now;
        if self.left < 1.0 {
            let wait = Duration::from_secs_f64((1.0 - self.left) / a_second);
            return Spend::Later(wait + Duration::from_millis(1));
        }
        self.left -= 1.0;
        self.remember(target);
        Spend::Now
    }

    fn remember(&mut self, target: IpAddr) {
        if self.order.len() == KNOWN {
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
    fn a_minute_has_so_many_new_targets_and_no_more() {
        let mut budget = Budget::new(60);
        let mut now = Duration::ZERO;
        let mut spent = 0;
        for n in 0..1_000 {
            loop {
                match budget.spend(target(n), now) {
                    Spend::Now => break,
                    Spend::Later(wait) => now += wait,
                    Spend::Never => panic!("never"),
                }
            }
            spent += 1;
            // A bucket full at the start, then one a second.
            assert!(f64::from(spent) <= 60.0 + now.as_secs_f64() + 1e-6, "{spent} after {now:?}");
        }
        assert!(now < Duration::from_secs(945), "and no slower: {now:?}");
    }

    #[test]
    fn known_targets_cost_nothing() {
        let mut budget = Budget::new(1);
        assert_eq!(budget.spend(target(1), Duration::ZERO), Spend::Now);
        assert_eq!(budget.spend(target(1), Duration::ZERO), Spend::Now);
        assert!(matches!(budget.spend(target(2), Duration::ZERO), Spend::Later(_)));
        assert_eq!(Budget::new(0).spend(target(1), Duration::ZERO), Spend::Never);
    }

    #[test]
    fn memory_is_bounded() {
        let mut budget = Budget::new(u32::MAX);
        for n in 0..3 * KNOWN as u32 {
            budget.spend(target(n), Duration::ZERO);
        }
        assert_eq!((budget.known.len(), budget.order.len()), (KNOWN, KNOWN));
    }
}
