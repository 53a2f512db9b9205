//! Range: inclusive addresses of one family, not always a CIDR block.

use std::cmp::{Ordering, Reverse};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::IpNet;

use crate::address::Address;

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
pub struct Range {
    first: IpAddr,
    /// Of the family of `first`, and not before it.
    last: IpAddr,
}

impl Range {
    /// All IPv4 addresses.
    pub const V4: Self =
        Self { first: IpAddr::V4(Ipv4Addr::UNSPECIFIED), last: IpAddr::V4(Ipv4Addr::BROADCAST) };
    /// All IPv6 addresses.
    pub const V6: Self = Self {
        first: IpAddr::V6(Ipv6Addr::UNSPECIFIED),
        last: IpAddr::V6(Ipv6Addr::from_bits(u128::MAX)),
    };

    /// The addresses from `first` to `last`, both included.
    pub fn new(first: IpAddr, last: IpAddr) -> Result<Self, RangeError> {
        if first.is_ipv4() != last.is_ipv4() {
            return Err(RangeError::MixedFamilies { first, last });
        }
        if first > last {
            Err(RangeError::Backwards { first, last })
        } else {
            Ok(Self { first, last })
        }
    }

    /// The range of two addresses as numbers. `last` must not come before `first`.
    pub(crate) fn of_numbers<A: Address>(first: A, last: A) -> Self {
        Self { first: first.to_ip(), last: last.to_ip() }
    }

    /// The first address.
    pub fn first(&self) -> IpAddr {
        self.first
    }

    /// The last address.
    pub fn last(&self) -> IpAddr {
        self.last
    }

    /// True for IPv4, false for IPv6.
    pub fn is_v4(&self) -> bool {
        self.first.is_ipv4()
    }

    /// Whether the address lies inside. An IPv4-mapped IPv6 address (RFC 4291, section 2.5.5.2)
    /// counts as the IPv4 address in it, because its packets go there.
    pub fn contains(&self, address: IpAddr) -> bool {
        // Addresses of IPv4 sort before those of IPv6, so that the other family is outside.
        (self.first..=self.last).contains(&address.to_canonical())
    }

    /// Whether every address of `other` lies inside. A range contains itself.
    pub fn contains_range(&self, other: &Self) -> bool {
        self.first <= other.first && other.last <= self.last
    }

    /// The number of addresses. For all of IPv6 it is one too small, because 2^128 does not fit.
    pub fn addresses(&self) -> u128 {
        (number(self.last) - number(self.first)).saturating_add(1)
    }

    /// The range as a prefix; `None` where it is not exactly one.
    pub fn cidr(&self) -> Option<IpNet> {
        let span = number(self.first) ^ number(self.last);
        let width = if self.is_v4() { 32 } else { 128 };
        // In a prefix the differing bits are exactly the host bits, so that they form 0…01…1.
        let host_bits = (u128::BITS - span.leading_zeros()) as u8;
        let net = IpNet::new(self.first, width - host_bits).ok()?;
        (net.network() == self.first && net.broadcast() == self.last).then_some(net)
    }
}

fn number(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => address.to_bits().into(),
        IpAddr::V6(address) => address.to_bits(),
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
        Self { first: address, last: address }
    }
}

impl Ord for Range {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.first, Reverse(self.last)).cmp(&(other.first, Reverse(other.last)))
    }
}

impl PartialOrd for Range {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
