//! Table of special-purpose addresses: the IANA registries (RFC 6890 and its updates) and, for
//! IPv6, the one block that is allocated to the public internet (RFC 4291, 2000::/3).

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{IpNet, Ipv4Net, Ipv6Net};

use crate::range::Range;

/// Purpose of an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Class {
    /// An ordinary address of the internet.
    Public,
    /// "This host on this network" (RFC 1122); on Linux it reaches the machine itself.
    Unspecified,
    /// Private use (RFC 1918, RFC 4193).
    Private,
    /// Shared between a provider and its customers (RFC 6598).
    CarrierNat,
    /// Loopback (RFC 1122, RFC 4291).
    Loopback,
    /// Valid on one link only (RFC 3927, RFC 4291); metadata services of clouds are here.
    LinkLocal,
    /// Protocol assignments (RFC 6890, RFC 2928), Teredo and ORCHID among them.
    Protocol,
    /// Examples in documents (RFC 5737, RFC 3849, RFC 9637).
    Documentation,
    /// Benchmarks of network devices (RFC 2544).
    Benchmark,
    /// Multicast groups (RFC 5771, RFC 4291).
    Multicast,
    /// Reserved for future use, and broadcast (RFC 1112).
    Reserved,
    /// IPv6 that carries an IPv4 address to a translator or tunnel (RFC 3056, RFC 6052, RFC 7526).
    Transition,
    /// IPv6 outside 2000::/3, the block of global unicast.
    NotAllocated,
}

impl Class {
    /// The class as error messages name it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Public => "public",
            Self::Unspecified => "unspecified",
            Self::Private => "private",
            Self::CarrierNat => "carrier NAT",
            Self::Loopback => "loopback",
            Self::LinkLocal => "link-local",
            Self::Protocol => "protocol assignment",
            Self::Documentation => "documentation",
            Self::Benchmark => "benchmark",
            Self::Multicast => "multicast",
            Self::Reserved => "reserved",
            Self::Transition => "IPv4 in IPv6",
            Self::NotAllocated => "not allocated",
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

const fn v4(a: u8, b: u8, c: u8, length: u8) -> IpNet {
    IpNet::V4(Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, 0), length))
}

const fn v6(a: u16, b: u16, length: u8) -> IpNet {
    IpNet::V6(Ipv6Net::new_assert(Ipv6Addr::new(a, b, 0, 0, 0, 0, 0, 0), length))
}

const fn single(address: Ipv6Addr) -> IpNet {
    IpNet::V6(Ipv6Net::new_assert(address, 128))
}

/// The first match counts, so exceptions stand before the block that holds them. An address without
/// a match is public if it is of IPv4, and not allocated if it is of IPv6.
const BLOCKS: [(IpNet, Class); 28] = [
    (v4(0, 0, 0, 8), Class::Unspecified),
    (v4(10, 0, 0, 8), Class::Private),
    (v4(100, 64, 0, 10), Class::CarrierNat),
    (v4(127, 0, 0, 8), Class::Loopback),
    (v4(169, 254, 0, 16), Class::LinkLocal),
    (v4(172, 16, 0, 12), Class::Private),
    (v4(192, 0, 0, 24), Class::Protocol),
    (v4(192, 0, 2, 24), Class::Documentation),
    (v4(192, 88, 99, 24), Class::Transition),
    (v4(192, 168, 0, 16), Class::Private),
    (v4(198, 18, 0, 15), Class::Benchmark),
    (v4(198, 51, 100, 24), Class::Documentation),
    (v4(203, 0, 113, 24), Class::Documentation),
    (v4(224, 0, 0, 4), Class::Multicast),
    (v4(240, 0, 0, 4), Class::Reserved),
    (single(Ipv6Addr::UNSPECIFIED), Class::Unspecified),
    (single(Ipv6Addr::LOCALHOST), Class::Loopback),
    (v6(0, 0, 96), Class::Transition),
    (v6(0x64, 0xff9b, 32), Class::Transition),
    (v6(0x2001, 0, 23), Class::Protocol),
    (v6(0x2001, 0xdb8, 32), Class::Documentation),
    (v6(0x2002, 0, 16), Class::Transition),
    (v6(0x3fff, 0, 20), Class::Documentation),
    (v6(0x2000, 0, 3), Class::Public),
    (v6(0xfc00, 0, 7), Class::Private),
    (v6(0xfe80, 0, 10), Class::LinkLocal),
    (v6(0xfec0, 0, 10), Class::Private),
    (v6(0xff00, 0, 8), Class::Multicast),
];

/// The first address of the block that is allocated to the public internet.
const ALLOCATED: IpAddr = IpAddr::V6(Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0));

/// Looks the address up in the table. An IPv4-mapped address (`::ffff:0:0/96`) has the class of the
/// IPv4 address, because that is what it reaches.
pub fn classify(address: IpAddr) -> Class {
    let address = address.to_canonical();
    let listed = BLOCKS.iter().find(|(block, _)| block.contains(&address));
    let unlisted = if address.is_ipv4() { Class::Public } else { Class::NotAllocated };
    listed.map_or(unlisted, |(_, class)| *class)
}

/// The class of all addresses of a range; [`Class::Public`] where they do not lie in a single
/// special-purpose block.
pub fn classify_range(range: &Range) -> Class {
    let first = range.first();
    let last = range.last();
    let whole = |block: &IpNet| block.contains(&first) && block.contains(&last);
    if let Some((_, class)) = BLOCKS.iter().find(|(block, _)| whole(block)) {
        return *class;
    }
    // What is not allocated has no block in the table: it lies before 2000::/3 or after.
    let same_side = (first < ALLOCATED) == (last < ALLOCATED);
    let class = classify(first);
    if class == Class::NotAllocated && class == classify(last) && same_side {
        return class;
    }
    Class::Public
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_has_a_class_if_one_block_holds_it() {
        let class = |range: &str| classify_range(&range.parse().unwrap());
        assert_eq!(class("10.1.0.0/16"), Class::Private);
        assert_eq!(class("127.0.0.1 - 127.0.0.1"), Class::Loopback);
        assert_eq!(class("10.0.0.0/7"), Class::Public, "it holds more than the private block");
        assert_eq!(class("8.0.0.0/8"), Class::Public);
        assert_eq!(class("2a00::/12"), Class::Public);
        assert_eq!(class("fd00::/8"), Class::Private);
        assert_eq!(class("4000::/3"), Class::NotAllocated);
        assert_eq!(class("1000:: - 5000::"), Class::Public, "2000::/3 lies between");
    }
}
