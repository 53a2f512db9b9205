//! Claims: what one source says of one range, small enough to keep ten million.

use std::cmp::{Ordering, Reverse};

use hierarchy::{Address, Country, Range, Registry};

use super::companies::CompanyNumber;
use super::holder::CompanyKey;

/// What one source says of a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Claim<A> {
    pub(super) first: A,
    /// Last address, inclusive.
    pub(super) last: A,
    pub(super) says: Statement,
}

/// What one source says, without the range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Statement {
    /// Registry of the file; `None` for a route.
    pub(super) registry: Option<Registry>,
    pub(super) company: Option<CompanyNumber>,
    /// What identifies the company.
    pub(super) basis: CompanyKey,
    pub(super) country: Option<Country>,
    /// Day of the last change as digits, 0 where it is unknown.
    pub(super) changed: u32,
    pub(super) source: u16,
}

impl<A: Address> Claim<A> {
    /// Order by first address; a range that contains another comes before it.
    pub(super) fn order(&self, other: &Self) -> Ordering {
        (self.first, Reverse(self.last)).cmp(&(other.first, Reverse(other.last)))
    }

    /// The addresses as a range of the hierarchy.
    pub(super) fn range(&self) -> Option<Range> {
        Range::new(self.first.to_ip(), self.last.to_ip()).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Claim<u32> {
        /// A claim of RIPE without country and date.
        pub(in crate::settle) fn of_ripe(
            first: u32,
            last: u32,
            company: Option<CompanyNumber>,
            basis: CompanyKey,
        ) -> Self {
            let registry = Some(Registry::RipeNcc);
            let says = Statement { registry, company, basis, country: None, changed: 0, source: 0 };
            Self { first, last, says }
        }
    }

    #[test]
    fn a_claim_is_small_enough_to_keep_ten_million() {
        assert_eq!((size_of::<Claim<u32>>(), size_of::<Claim<u128>>()), (24, 48));
    }
}
