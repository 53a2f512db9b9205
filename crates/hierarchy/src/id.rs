//! Identifiers: subnets and companies within one generation, and the generation itself.

use std::fmt;
use std::num::NonZeroU32;

use zerocopy::{FromBytes, Immutable, IntoBytes};

/// A subnet's place in its generation, counted from zero in pre-order: a parent comes before its
/// children, siblings are sorted by address, and IPv4 comes before IPv6. In another generation the
/// same id is another subnet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, FromBytes, IntoBytes, Immutable)]
#[repr(transparent)]
pub struct SubnetId(u32);

/// A company's place in its generation, counted from zero. In another generation the same id is
/// another company.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CompanyId(NonZeroU32);

/// A loaded version of the hierarchy; later versions have larger numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Generation(i64);

impl SubnetId {
    /// The id of the subnet at this place, which need not exist.
    pub const fn new(place: u32) -> Self {
        Self(place)
    }

    /// The place in the generation.
    pub const fn get(self) -> u32 {
        self.0
    }

    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Stores one more than the place, so that `Option<CompanyId>`, of which each record has one, takes
/// four bytes.
impl CompanyId {
    /// The id of the company at this place. The last place, 4,294,967,295, does not fit and becomes
    /// the one before it.
    pub const fn new(place: u32) -> Self {
        Self(NonZeroU32::MIN.saturating_add(place))
    }

    /// The place in the generation.
    pub const fn get(self) -> u32 {
        self.0.get() - 1
    }

    pub(crate) const fn index(self) -> usize {
        self.get() as usize
    }
}

impl Generation {
    /// The generation with this number.
    pub const fn new(number: i64) -> Self {
        Self(number)
    }

    /// The number that the database gave to the generation.
    pub const fn get(self) -> i64 {
        self.0
    }
}

impl fmt::Display for SubnetId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for CompanyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}

impl fmt::Display for Generation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
