//! Addresses of a region: which agent each is delegated to.
//!
//! The coordinator flattens its hierarchy into disjoint ranges, each with the agent of the smallest
//! delegated subnet around it. Addresses outside all ranges are not the region's.

use std::collections::BTreeMap;
use std::net::IpAddr;

use model::AgentId;
use serde::{Deserialize, Serialize};

/// Which agent crawls the hosts of a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Delegate {
    /// One agent, while it is alive.
    Agent(AgentId),
    /// The agents of the region in the order of the ring: the subnet is too large for one.
    Spread,
}

/// An inclusive range of addresses of one family.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Range {
    /// First address of the range.
    pub first: IpAddr,
    /// Last address of the range.
    pub last: IpAddr,
}

/// A change of a delegation, as part of a signed delta.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Change {
    /// The range has this delegate from now on.
    Set(Range, Delegate),
    /// The range is no longer the region's.
    Remove(Range),
}

/// Ranges that cannot be delegated as asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DelegationError {
    /// The ends are in the wrong order or of different families.
    #[error("{} to {} is no range of addresses", .0.first, .0.last)]
    Empty(Range),
    /// The range overlaps another one and is not equal to it.
    #[error("{} to {} overlaps {} to {}", .0.first, .0.last, .1.first, .1.last)]
    Overlap(Range, Range),
    /// The range to be removed is not there.
    #[error("{} to {} is not delegated", .0.first, .0.last)]
    Unknown(Range),
}

/// All ranges of a region, disjoint.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Delegations {
    /// By first address: last address and delegate.
    ranges: BTreeMap<IpAddr, (IpAddr, Delegate)>,
}

impl Delegations {
    /// The delegations with these ranges.
    pub fn new(
        ranges: impl IntoIterator<Item = (Range, Delegate)>,
    ) -> Result<Self, DelegationError> {
        let mut delegations = Self::default();
        for (range, delegate) in ranges {
            delegations.apply(Change::Set(range, delegate))?;
        }
        Ok(delegations)
    }

    /// Delegate of an address; none if the address is not the region's.
    pub fn lookup(&self, address: IpAddr) -> Option<Delegate> {
        let (_, (last, delegate)) = self.ranges.range(..=address).next_back()?;
        (address <= *last).then_some(*delegate)
    }

    /// Executes one change, or says why it contradicts the ranges.
    pub fn apply(&mut self, change: Change) -> Result<(), DelegationError> {
        match change {
            Change::Set(range, delegate) => {
                self.check(range)?;
                self.ranges.insert(range.first, (range.last, delegate));
                Ok(())
            }
            Change::Remove(range) => match self.ranges.get(&range.first) {
                Some((last, _)) if *last == range.last => {
                    self.ranges.remove(&range.first);
                    Ok(())
                }
                _ => Err(DelegationError::Unknown(range)),
            },
        }
    }

    /// All agents that are named.
    pub fn agents(&self) -> impl Iterator<Item = AgentId> + '_ {
        self.ranges.values().filter_map(|(_, delegate)| match delegate {
            Delegate::Agent(agent) => Some(*agent),
            Delegate::Spread => None,
        })
    }

    /// All ranges in order.
    pub fn iter(&self) -> impl Iterator<Item = (Range, Delegate)> + '_ {
        self.ranges
            .iter()
            .map(|(first, (last, delegate))| (Range { first: *first, last: *last }, *delegate))
    }

    fn check(&self, range: Range) -> Result<(), DelegationError> {
        if range.first.is_ipv4() != range.last.is_ipv4() || range.first > range.last {
            return Err(DelegationError::Empty(range));
        }
        // Ranges are disjoint, so only the last one that begins before the end can overlap.
        let Some((first, (last, _))) = self.ranges.range(..=range.last).next_back() else {
            return Ok(());
        };
        let other = Range { first: *first, last: *last };
        if other == range || *last < range.first {
            return Ok(());
        }
        Err(DelegationError::Overlap(range, other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(first: &str, last: &str) -> Range {
        Range { first: first.parse().unwrap(), last: last.parse().unwrap() }
    }

    fn of(text: &str, delegations: &Delegations) -> Option<Delegate> {
        delegations.lookup(text.parse().unwrap())
    }

    #[test]
    fn an_address_has_the_delegate_of_its_range() {
        let agent = Delegate::Agent(AgentId::new(1));
        let all = Delegations::new([
            (range("10.0.0.0", "10.0.0.255"), agent),
            (range("10.0.1.0", "10.0.1.9"), Delegate::Spread),
            (range("2001:db8::", "2001:db8::ffff"), Delegate::Spread),
        ])
        .unwrap();
        assert_eq!(of("10.0.0.0", &all), Some(agent));
        assert_eq!(of("10.0.1.9", &all), Some(Delegate::Spread));
        assert_eq!(of("10.0.1.10", &all), None);
        assert_eq!(of("9.255.255.255", &all), None);
        assert_eq!(of("2001:db8::1", &all), Some(Delegate::Spread));
        assert_eq!(of("2001:db8::1:0", &all), None);
        assert_eq!(all.agents().collect::<Vec<_>>(), [AgentId::new(1)]);
        assert_eq!(all.iter().count(), 3);
    }

    #[test]
    fn changes_that_contradict_are_refused() {
        let mut all =
            Delegations::new([(range("10.0.0.0", "10.0.0.9"), Delegate::Spread)]).unwrap();
        let before = all.clone();
        for (first, last) in [("10.0.0.5", "10.0.0.20"), ("9.0.0.0", "11.0.0.0"), ("::", "::1")] {
            let outcome = all.apply(Change::Set(range(first, last), Delegate::Spread));
            assert_eq!(outcome.is_ok(), first == "::", "{first}");
        }
        all.apply(Change::Remove(range("::", "::1"))).unwrap();
        assert!(all.apply(Change::Set(range("10.0.0.9", "10.0.0.5"), Delegate::Spread)).is_err());
        assert!(all.apply(Change::Remove(range("10.0.0.0", "10.0.0.8"))).is_err());
        assert_eq!(all, before);
        let agent = Delegate::Agent(AgentId::new(3));
        all.apply(Change::Set(range("10.0.0.0", "10.0.0.9"), agent)).unwrap();
        assert_eq!(of("10.0.0.1", &all), Some(agent));
    }
}
