//! Numbers that name things inside one generation, and the generation's own number.

use std::fmt;
use std::num::NonZeroU32;

use zerocopy::{FromBytes, Immutable, IntoBytes};

/// A subnet's place in its generation, counted from zero in pre-order: a parent comes before its
/// children, siblings are sorted by address, all of IPv4 comes before IPv6. It means nothing in
/// another generation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, FromBytes, IntoBytes, Immutable)]
#[repr(transparent)]
pub struct SubnetId(u32);

/// A company's place in its generation, counted from zero. It means nothing in another generation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CompanyId(NonZeroU32);

/// Which loaded version of the hierarchy; later ones have larger numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Generation(i64);

impl SubnetId {
    /// The subnet at this place.
    pub const fn new(place: u32) -> Self {
        Self(place)
    }

    /// The place.
    pub const fn get(self) -> u32 {
        self.0
    }

    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// One more than the place is kept, so that `Option<CompanyId>`, of which there is one a subnet,
/// takes four bytes.
impl CompanyId {
    /// The company at this place; the last place there is, 4,294,967,295, is taken for the one
    /// before it.
    pub const fn new(place: u32) -> Self {
        Self(NonZeroU32::MIN.saturating_add(place))
    }

    /// The place.
    pub const fn get(self) -> u32 {
        self.0.get() - 1
    }

    pub(crate) const fn index(self) -> usize {
        self.get() as usize
    }
}

impl Generation {
    /// The generation of this number.
    pub const fn new(number: i64) -> Self {
        Self(number)
    }

    /// The number.
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
