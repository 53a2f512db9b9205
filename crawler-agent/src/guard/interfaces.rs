//! Networks of this machine's interfaces.

use std::net::IpAddr;

use ipnet::IpNet;
use nix::{ifaddrs::getifaddrs, sys::socket::SockaddrStorage};

use super::AddressSet;

/// The networks of all interfaces at this moment. Fails where the system does not list them.
pub fn on_link_prefixes() -> Result<AddressSet, std::io::Error> {
    let interfaces = getifaddrs()?;
    let prefixes = interfaces.filter_map(|interface| {
        let address = ip_of(interface.address.as_ref()?)?;
        let mask = interface.netmask.as_ref().and_then(ip_of);
        Some(prefix(address, mask))
    });
    Ok(prefixes.collect())
}

/// The network of an interface; its address alone where the mask is missing, covers everything or
/// is not contiguous.
fn prefix(address: IpAddr, mask: Option<IpAddr>) -> IpNet {
    mask.filter(|mask| mask.is_ipv4() == address.is_ipv4())
        .and_then(|mask| IpNet::with_netmask(address, mask).ok())
        .filter(|net| net.prefix_len() > 0)
        .unwrap_or_else(|| IpNet::from(address))
        .trunc()
}

fn ip_of(address: &SockaddrStorage) -> Option<IpAddr> {
    if let Some(v4) = address.as_sockaddr_in() {
        return Some(IpAddr::V4(v4.ip()));
    }
    address.as_sockaddr_in6().map(|v6| IpAddr::V6(v6.ip()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_is_on_link_on_every_machine() {
        let prefixes = on_link_prefixes().unwrap();
        assert!(prefixes.contains("127.0.0.1".parse().unwrap()), "{prefixes:?}");
    }

    #[test]
    fn irregular_masks_cover_the_address_alone() {
        let address: IpAddr = "198.0.2.7".parse().unwrap();
        let with = |mask: &str| prefix(address, Some(mask.parse().unwrap())).to_string();
        assert_eq!(with("255.255.255.0"), "198.0.2.0/24");
        assert_eq!(with("0.0.0.0"), "198.0.2.7/32");
        assert_eq!(with("255.0.255.0"), "198.0.2.7/32");
        assert_eq!(with("ffff::"), "198.0.2.7/32");
        assert_eq!(prefix(address, None).to_string(), "198.0.2.7/32");
    }
}
