//! The networks of an address: what one client controls, and what limits count by.

use std::net::{IpAddr, Ipv6Addr};

/// An IPv4 address, or a network of IPv6.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Network {
    first: IpAddr,
    prefix: u32,
}

impl Network {
    /// The /48 around an IPv6 address. Its owner has 65,536 networks of /64.
    pub(super) fn site_of(address: IpAddr) -> Option<Self> {
        match address.to_canonical() {
            IpAddr::V4(_) => None,
            IpAddr::V6(address) => Some(Self::around(address, 48)),
        }
    }

    /// The first address of the network.
    pub(super) fn address(self) -> IpAddr {
        self.first
    }

    fn around(address: Ipv6Addr, prefix: u32) -> Self {
        let first = u128::from(address) >> (128 - prefix) << (128 - prefix);
        Self { first: Ipv6Addr::from(first).into(), prefix }
    }
}

impl From<IpAddr> for Network {
    fn from(address: IpAddr) -> Self {
        match address.to_canonical() {
            address @ IpAddr::V4(_) => Self { first: address, prefix: 32 },
            // A host with one IPv6 address usually controls the /64 around it.
            IpAddr::V6(address) => Self::around(address, 64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn a_network_has_a_first_address() {
        let first = |text: &str| Network::from(ip(text)).address();
        assert_eq!(first("192.0.2.7"), ip("192.0.2.7"));
        assert_eq!(first("2001:db8:1:2:3::4"), ip("2001:db8:1:2::"));
        assert_eq!(first("::ffff:192.0.2.7"), ip("192.0.2.7"));
    }

    #[test]
    fn a_site_of_ipv6_is_wider_than_a_network() {
        let site = |text: &str| Network::site_of(ip(text));
        assert_eq!(site("192.0.2.7").or(site("::ffff:192.0.2.7")), None);
        assert_eq!(site("2001:db8:1:2:3::4"), site("2001:db8:1:ffff::"));
        assert_ne!(site("2001:db8:1::"), site("2001:db8:2::"));
        assert_ne!(site("2001:db8:1::"), Some(Network::from(ip("2001:db8:1::"))));
    }
}
