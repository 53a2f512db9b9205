//! Which networks is this machine on?

use std::net::IpAddr;

use ipnet::IpNet;
use nix::{ifaddrs::getifaddrs, sys::socket::SockaddrStorage};

/// The prefixes of all interfaces, as they are now. Fails when the system does not tell.
pub fn on_link_prefixes() -> Result<Vec<IpNet>, std::io::Error> {
    let interfaces = getifaddrs()?;
    let mut prefixes: Vec<IpNet> = interfaces
        .filter_map(|i| {
            let address = ip_of(i.address.as_ref()?)?;
            let mask = i.netmask.as_ref().and_then(ip_of);
            Some(prefix(address, mask))
        })
        .collect();
    prefixes.sort_unstable();
    prefixes.dedup();
    Ok(prefixes)
}

/// The network of an interface; a mask that is missing or makes no sense leaves the interface's
/// address alone.
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
        assert!(prefixes.contains(&"127.0.0.0/8".parse().unwrap()), "{prefixes:?}");
    }

    #[test]
    fn odd_masks_leave_the_address_alone() {
        let address: IpAddr = "198.0.2.7".parse().unwrap();
        let with = |mask: &str| prefix(address, Some(mask.parse().unwrap())).to_string();
        assert_eq!(with("255.255.255.0"), "198.0.2.0/24");
        assert_eq!(with("0.0.0.0"), "198.0.2.7/32");
        assert_eq!(with("255.0.255.0"), "198.0.2.7/32");
        assert_eq!(with("ffff::"), "198.0.2.7/32");
        assert_eq!(prefix(address, None).to_string(), "198.0.2.7/32");
    }
}
