//! Range: inclusive addresses of one family, not always a CIDR block.

use std::cmp::Ordering;
use std::net::IpAddr;

use ipnet::IpNet;

/// Error for input that is no range.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RangeError {
    /// One end is IPv4, the other IPv6.
    #[error("{first} and {last} are not of the same address family")]
    MixedFamilies {
        /// First address as given.
        first: IpAddr,
        /// Last address as given.
        last: IpAddr,
    },
    /// The first address comes after the last.
    #[error("{first} comes after {last}")]
    Backwards {
        /// First address as given.
        first: IpAddr,
        /// Last address as given.
        last: IpAddr,
    },
    /// A prefix whose address has bits set beyond its length.
    #[error("{net} has host bits set; the network is {network}")]
    HostBits {
        /// The prefix as given.
        net: IpNet,
        /// The prefix with the host bits cleared.
        network: IpNet,
    },
    /// Text that is neither a range, a prefix nor an address.
    #[error("`{0}` is neither an address, a prefix (a/n) nor a range (a - b)")]
    Text(String),
}

/// An inclusive range of IPv4 or of IPv6 addresses.
///
/// The order is that of the hierarchy: IPv4 before IPv6, then by first address, then the wider
/// before the narrower. In a sorted list everything that holds a range comes before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Range(pub(crate) Bounds);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Bounds {
    V4 { first: u32, last: u32 },
    V6 { first: u128, last: u128 },
}

impl Range {
    /// All IPv4 addresses.
    pub const V4: Self = Self(Bounds::V4 { first: 0, last: u32::MAX });
    /// All IPv6 addresses.
    pub const V6: Self = Self(Bounds::V6 { first: 0, last: u128::MAX });

    /// The addresses from `first` to `last`, both included.
    pub fn new(first: IpAddr, last: IpAddr) -> Result<Self, RangeError> {
        let bounds = match (first, last) {
            (IpAddr::V4(a), IpAddr::V4(b)) => Bounds::V4 { first: a.to_bits(), last: b.to_bits() },
            (IpAddr::V6(a), IpAddr::V6(b)) => Bounds::V6 { first: a.to_bits(), last: b.to_bits() },
            _ => return Err(RangeError::MixedFamilies { first, last }),
        };
        if first > last { Err(RangeError::Backwards { first, last }) } else { Ok(Self(bounds)) }
    }

    /// The first address.
    pub fn first(&self) -> IpAddr {
        match self.0 {
            Bounds::V4 { first, .. } => IpAddr::V4(first.into()),
            Bounds::V6 { first, .. } => IpAddr::V6(first.into()),
        }
    }

    /// The last address.
    pub fn last(&self) -> IpAddr {
        match self.0 {
            Bounds::V4 { last, .. } => IpAddr::V4(last.into()),
            Bounds::V6 { last, .. } => IpAddr::V6(last.into()),
        }
    }

    /// True for IPv4, false for IPv6.
    pub fn is_v4(&self) -> bool {
        matches!(self.0, Bounds::V4 { .. })
    }

    /// Whether the address lies inside. An IPv4-mapped IPv6 address (RFC 4291, section 2.5.5.2)
    /// counts as the IPv4 address in it, because its packets go there.
    pub fn contains(&self, address: IpAddr) -> bool {
        match (self.0, address.to_canonical()) {
            (Bounds::V4 { first, last }, IpAddr::V4(a)) => (first..=last).contains(&a.to_bits()),
            (Bounds::V6 { first, last }, IpAddr::V6(a)) => (first..=last).contains(&a.to_bits()),
            _ => false,
        }
    }

    /// Whether every address of `other` lies inside. A range contains itself.
    pub fn contains_range(&self, other: &Self) -> bool {
        match (self.0, other.0) {
            (Bounds::V4 { first, last }, Bounds::V4 { first: f, last: l }) => {
                first <= f && l <= last
            }
            (Bounds::V6 { first, last }, Bounds::V6 { first: f, last: l }) => {
                first <= f && l <= last
            }
            _ => false,
        }
    }

    /// The number of addresses. For all of IPv6 it is one too small, because 2^128 does not fit.
    pub fn addresses(&self) -> u128 {
        match self.0 {
            Bounds::V4 { first, last } => u128::from(last - first) + 1,
            Bounds::V6 { first, last } => (last - first).saturating_add(1),
        }
    }

    /// The range as a prefix; `None` where it is not exactly one.
    pub fn cidr(&self) -> Option<IpNet> {
        let (span, width) = match self.0 {
            Bounds::V4 { first, last } => (u128::from(first ^ last), 32_u8),
            Bounds::V6 { first, last } => (first ^ last, 128),
        };
        // In a prefix the differing bits are exactly the host bits, so that they form 0…01…1.
        let host_bits = (u128::BITS - span.leading_zeros()) as u8;
        let net = IpNet::new(self.first(), width - host_bits).ok()?;
        (net.network() == self.first() && net.broadcast() == self.last()).then_some(net)
    }
}

/// Host bits are an error because they hint at a mistake in the source.
impl TryFrom<IpNet> for Range {
    type Error = RangeError;

    fn try_from(net: IpNet) -> Result<Self, RangeError> {
        let network = net.trunc();
        if network == net {
            Self::new(net.network(), net.broadcast())
        } else {
            Err(RangeError::HostBits { net, network })
        }
    }
}

/// The range of a single address.
impl From<IpAddr> for Range {
    fn from(address: IpAddr) -> Self {
        match address {
            IpAddr::V4(a) => Self(Bounds::V4 { first: a.to_bits(), last: a.to_bits() }),
            IpAddr::V6(a) => Self(Bounds::V6 { first: a.to_bits(), last: a.to_bits() }),
        }
    }
}

impl Ord for Range {
    fn cmp(&self, other: &Self) -> Ordering {
        self.first().cmp(&other.first()).then_with(|| other.last().cmp(&self.last()))
    }
}

impl PartialOrd for Range {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
