//! The network of an address: what one client controls, and what limits count by.

use std::net::IpAddr;

/// An IPv4 address or the /64 of an IPv6 address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Network(u128);

impl Network {
    /// The first address of the network.
    pub(super) fn address(self) -> IpAddr {
        match u32::try_from(self.0) {
            Ok(address) => IpAddr::V4(address.into()),
            Err(_) => IpAddr::V6((self.0 << 64).into()),
        }
    }
}

impl From<IpAddr> for Network {
    fn from(address: IpAddr) -> Self {
        Self(match address.to_canonical() {
            IpAddr::V4(address) => u128::from(u32::from(address)),
            // A host with one IPv6 address usually controls the /64 around it.
            IpAddr::V6(address) => u128::from(address) >> 64 | 1 << 127,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_has_a_first_address() {
        let first = |text: &str| Network::from(text.parse::<IpAddr>().unwrap()).address();
        assert_eq!(first("192.0.2.7"), "192.0.2.7".parse::<IpAddr>().unwrap());
        assert_eq!(first("2001:db8:1:2:3::4"), "2001:db8:1:2::".parse::<IpAddr>().unwrap());
        assert_eq!(first("::ffff:192.0.2.7"), "192.0.2.7".parse::<IpAddr>().unwrap());
    }
}
