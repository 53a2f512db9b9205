//! One source's word on one range, small enough to hold ten million.

use std::cmp::{Ordering, Reverse};
use std::net::IpAddr;

use hierarchy::{Country, Range, Registry};

use super::companies::CompanyNo;
use super::holder::Basis;

/// Addresses of one family as numbers.
pub trait Bits: Copy + Ord + std::fmt::Debug {
    /// Bits of an address.
    const WIDTH: u8;

    /// The address after; `None` after the last.
    fn after(self) -> Option<Self>;
    /// The address before; `None` before the first.
    fn before(self) -> Option<Self>;
    /// The last address of the prefix of this length around the address.
    #[must_use]
    fn end_of(self, prefix: u8) -> Self;
    /// As an address.
    fn address(self) -> IpAddr;
}

impl Bits for u32 {
    const WIDTH: u8 = 32;

    fn after(self) -> Option<Self> {
        self.checked_add(1)
    }

    fn before(self) -> Option<Self> {
        self.checked_sub(1)
    }

    fn end_of(self, prefix: u8) -> Self {
        self | Self::MAX.checked_shr(prefix.into()).unwrap_or(0)
    }

    fn address(self) -> IpAddr {
        IpAddr::V4(self.into())
    }
}

impl Bits for u128 {
    const WIDTH: u8 = 128;

    fn after(self) -> Option<Self> {
        self.checked_add(1)
    }

    fn before(self) -> Option<Self> {
        self.checked_sub(1)
    }

    fn end_of(self, prefix: u8) -> Self {
        self | Self::MAX.checked_shr(prefix.into()).unwrap_or(0)
    }

    fn address(self) -> IpAddr {
        IpAddr::V6(self.into())
    }
}

/// A range and what one source says of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Claim<A> {
    /// First address.
    pub first: A,
    /// Last address.
    pub last: A,
    /// Who holds it.
    pub company: Option<CompanyNo>,
    /// Day of the last change as digits, 0 where unknown.
    pub changed: u32,
    /// Where it is used.
    pub country: Option<Country>,
    /// The number of the file that says so.
    pub source: u16,
    /// The registry that says so; `None` for a route.
    pub registry: Option<Registry>,
    /// What the company was taken from.
    pub basis: Basis,
}

/// What one source says of a range, whatever the range.
#[derive(Debug, Clone, Copy)]
pub(super) struct Word {
    pub(super) registry: Option<Registry>,
    pub(super) company: Option<CompanyNo>,
    pub(super) basis: Basis,
    pub(super) country: Option<Country>,
    pub(super) changed: u32,
    pub(super) source: u16,
}

impl Word {
    pub(super) fn of<A>(self, first: A, last: A) -> Claim<A> {
        let Self { registry, company, basis, country, changed, source } = self;
        Claim { first, last, company, changed, country, source, registry, basis }
    }
}

impl<A: Bits> Claim<A> {
    /// Sorted, so that whatever holds a range comes before it.
    pub(super) fn order(&self, other: &Self) -> Ordering {
        (self.first, Reverse(self.last)).cmp(&(other.first, Reverse(other.last)))
    }

    /// Whether all of `other` lies inside.
    pub fn holds(&self, other: &Self) -> bool {
        self.first <= other.first && other.last <= self.last
    }

    /// The range.
    pub(super) fn range(&self) -> Option<Range> {
        Range::new(self.first.address(), self.last.address()).ok()
    }
}

/// First and last address as numbers.
pub(super) enum Ends {
    V4(u32, u32),
    V6(u128, u128),
}

/// The ends of a range by family.
pub(super) fn ends(range: &Range) -> Ends {
    match (range.first(), range.last()) {
        (IpAddr::V4(first), IpAddr::V4(last)) => Ends::V4(first.to_bits(), last.to_bits()),
        (first, last) => Ends::V6(bits_v6(first), bits_v6(last)),
    }
}

fn bits_v6(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped().to_bits(),
        IpAddr::V6(address) => address.to_bits(),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A claim of RIPE to a range that nothing else is known of.
    pub(crate) fn claim(
        first: u32,
        last: u32,
        company: Option<CompanyNo>,
        basis: Basis,
    ) -> Claim<u32> {
        let registry = Some(Registry::RipeNcc);
        Claim { first, last, company, changed: 0, country: None, source: 0, registry, basis }
    }

    #[test]
    fn ten_million_claims_fit() {
        assert_eq!((size_of::<Claim<u32>>(), size_of::<Claim<u128>>()), (24, 48));
    }
}
