//! Budget of new targets: so many a minute, so that no orders can turn the agent into a scanner.
//! Targets that were probed before are free.

use std::{
    collections::{HashMap, VecDeque},
    net::IpAddr,
    time::Duration,
};

use crate::token_bucket::TokenBucket;

/// Targets that are remembered as probed before.
const MAX_KNOWN: usize = 4_096;

/// Longest wait of a probe for the budget; by then its order has expired.
pub(super) const LONGEST_WAIT: Duration = Duration::from_secs(20);

/// The bucket holds the targets of this time, and is full at first.
const BURST: Duration = Duration::from_mins(1);

/// Tokens of a target: the bucket gets the targets of a minute as tokens each second.
const TOKENS: u64 = 60;

/// The budget of new targets.
#[derive(Debug)]
pub(super) struct Budget {
    /// None where the owner allows no new targets.
    bucket: Option<TokenBucket>,
    /// From when on each known target may be probed.
    known: HashMap<IpAddr, Duration>,
    /// The known targets, oldest first.
    order: VecDeque<IpAddr>,
}

/// Answer of the budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Grant {
    /// The target may be probed after this time.
    After(Duration),
    /// The budget is used up for longer than [`LONGEST_WAIT`].
    NotNow,
    /// The owner allows no new targets.
    Never,
}

impl Budget {
    pub(super) fn new(per_minute: u32) -> Self {
        let bucket = (per_minute > 0).then(|| TokenBucket::new(per_minute.into(), BURST));
        Self { bucket, known: HashMap::new(), order: VecDeque::new() }
    }

    /// Requests a target. `now` is the time since the start.
    pub(super) fn request(&mut self, target: IpAddr, now: Duration) -> Grant {
        if let Some(from) = self.known.get(&target) {
            return Grant::After(from.saturating_sub(now));
        }
        let Some(bucket) = &mut self.bucket else { return Grant::Never };
        let wait = bucket.reserve(TOKENS, now + BURST);
        if wait > LONGEST_WAIT {
            bucket.give_back(TOKENS);
            return Grant::NotNow;
        }
        self.remember(target, now + wait);
        Grant::After(wait)
    }

    fn remember(&mut self, target: IpAddr, from: Duration) {
        if self.order.len() == MAX_KNOWN {
            self.order.pop_front().map(|oldest| self.known.remove(&oldest));
        }
        self.known.insert(target, from);
        self.order.push_back(target);
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    const NOW: Grant = Grant::After(Duration::ZERO);

    fn target(n: u32) -> IpAddr {
        IpAddr::V4(Ipv4Addr::from(n))
    }

    #[test]
    fn new_targets_are_limited_to_the_rate() {
        let mut budget = Budget::new(60);
        let mut now = Duration::ZERO;
        let mut spent = 0;
        for n in 0..1_000 {
            match budget.request(target(n), now) {
                Grant::After(wait) => now += wait,
                other => panic!("{other:?}"),
            }
            spent += 1;
            // A bucket full at the start, then one a second.
            assert!(spent <= 60 + now.as_secs(), "{spent} after {now:?}");
        }
        assert!(now < Duration::from_secs(945), "and no slower: {now:?}");
    }

    #[test]
    fn known_targets_are_free() {
        let mut budget = Budget::new(1);
        assert_eq!(budget.request(target(1), Duration::ZERO), NOW);
        assert_eq!(budget.request(target(1), Duration::ZERO), NOW);
        assert_eq!(Budget::new(0).request(target(1), Duration::ZERO), Grant::Never);
    }

    #[test]
    fn nobody_waits_for_long() {
        let mut budget = Budget::new(6);
        for n in 0..6 {
            assert_eq!(budget.request(target(n), Duration::ZERO), NOW);
        }
        let seconds = |seconds| Grant::After(Duration::from_secs(seconds));
        assert_eq!(budget.request(target(6), Duration::ZERO), seconds(10));
        assert_eq!(budget.request(target(7), Duration::ZERO), seconds(20));
        assert_eq!(budget.request(target(8), Duration::ZERO), Grant::NotNow);
        assert_eq!(budget.request(target(8), Duration::ZERO), Grant::NotNow, "it cost nothing");
        let later = Duration::from_secs(15);
        assert_eq!(
            (budget.request(target(6), later), budget.request(target(7), later)),
            (NOW, seconds(5))
        );
        assert_eq!(budget.request(target(8), later), seconds(15));
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
