//! The network of an address: what one client controls, and what limits count by.

use std::net::IpAddr;

/// An IPv4 address or the /64 of an IPv6 address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Network(u128);

impl From<IpAddr> for Network {
    fn from(address: IpAddr) -> Self {
        Self(match address.to_canonical() {
            IpAddr::V4(address) => u128::from(u32::from(address)),
            // A host with one IPv6 address usually controls the /64 around it.
            IpAddr::V6(address) => u128::from(address) >> 64 | 1 << 127,
        })
    }
}
