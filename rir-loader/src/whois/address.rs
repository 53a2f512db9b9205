//! Ranges in the notations of the registries.
//!
//! `193.0.0.0 - 193.0.7.255`, `2001:db8::/32`, LACNIC's `24.232.16/24` with the last octets left
//! out, and numbers with leading zeros (`080.016.151.191`), which are decimal all the same.

use std::net::{IpAddr, Ipv4Addr};

use hierarchy::Range;
use ipnet::IpNet;

/// Why a text is not a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// Neither a prefix nor two addresses.
    #[error("is neither a prefix (a/n) nor a range (a - b)")]
    Text,
    /// Longer than an address of the family.
    #[error("has a prefix length that no address has")]
    Length,
    /// An address inside the prefix instead of its first.
    #[error("has bits set beyond its prefix length")]
    HostBits,
    /// Two addresses that are no first and last address.
    #[error("ends before it begins, or mixes IPv4 and IPv6")]
    Ends,
}

/// Parses a prefix, a range or one address.
pub fn parse_range(text: &str) -> Result<Range, AddressError> {
    if let Some((first, last)) = text.split_once('-') {
        return parse_ends(first, last);
    }
    match text.split_once('/') {
        Some((network, length)) => parse_prefix(network.trim_ascii(), length.trim_ascii()),
        None => parse_address(text).map(Range::from).ok_or(AddressError::Text),
    }
}

pub fn parse_ends(first: &str, last: &str) -> Result<Range, AddressError> {
    let first = parse_address(first).ok_or(AddressError::Text)?;
    let last = parse_address(last).ok_or(AddressError::Text)?;
    Range::new(first, last).map_err(|_| AddressError::Ends)
}

fn parse_prefix(network: &str, length: &str) -> Result<Range, AddressError> {
    let address = if network.contains(':') {
        network.parse().ok().map(IpAddr::V6)
    } else {
        // LACNIC leaves out octets that are zero.
        parse_octets(network).map(|(address, _)| IpAddr::V4(address))
    };
    let address = address.ok_or(AddressError::Text)?;
    if length.len() > 3 {
        return Err(AddressError::Text);
    }
    let length: u16 = length.parse().map_err(|_| AddressError::Text)?;
    let length = u8::try_from(length).map_err(|_| AddressError::Length)?;
    let net = IpNet::new(address, length).map_err(|_| AddressError::Length)?;
    Range::try_from(net).map_err(|_| AddressError::HostBits)
}

/// Parses a whole address. The groups of IPv6 may be written in full and in upper case.
pub fn parse_address(text: &str) -> Option<IpAddr> {
    let text = text.trim_ascii();
    if text.contains(':') {
        return text.parse().ok().map(IpAddr::V6);
    }
    let (address, octets) = parse_octets(text)?;
    (octets == 4).then_some(IpAddr::V4(address))
}

/// One to four octets as an address, and their number.
fn parse_octets(text: &str) -> Option<(Ipv4Addr, usize)> {
    let mut octets = [0; 4];
    let mut count = 0;
    for part in text.split('.') {
        let is_number = part.len() <= 3 && part.bytes().all(|byte| byte.is_ascii_digit());
        *octets.get_mut(count)? = part.parse().ok().filter(|_| is_number)?;
        count += 1;
    }
    Some((octets.into(), count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_notation_of_a_range_is_parsed() {
        for (text, range) in [
            ("193.0.0.0 - 193.0.7.255", "193.0.0.0/21"),
            ("193.0.0.0-193.0.7.255", "193.0.0.0/21"),
            ("196.204.208.1 - 196.204.208.255", "196.204.208.1 - 196.204.208.255"),
            ("24.232.16/24", "24.232.16.0/24"),
            ("24/8", "24.0.0.0/8"),
            ("080.016.151.191 - 080.016.151.200", "80.16.151.191 - 80.16.151.200"),
            ("0.0.0.0/0", "0.0.0.0/0"),
            ("0::/0", "::/0"),
            ("2001:db8::/32", "2001:db8::/32"),
            ("2001:4D0:: - 2001:4D0:FFFF:FFFF:FFFF:FFFF:FFFF:FFFF", "2001:4d0::/32"),
            ("192.0.2.1", "192.0.2.1/32"),
            ("2001:db8::1/128", "2001:db8::1/128"),
        ] {
            assert_eq!(parse_range(text).unwrap().to_string(), range, "{text}");
        }
    }

    #[test]
    fn an_invalid_range_is_refused_with_its_reason() {
        for (text, error) in [
            ("", AddressError::Text),
            ("nonsense", AddressError::Text),
            ("192.0.2 - 192.0.3.0", AddressError::Text),
            ("192.0.2.256 - 192.0.3.0", AddressError::Text),
            ("192.0.2.0000/24", AddressError::Text),
            ("1.2.3.4.5/24", AddressError::Text),
            ("192.0.2.0/33", AddressError::Length),
            ("2001:db8::/129", AddressError::Length),
            ("192.0.2.1/24", AddressError::HostBits),
            ("24.232.17/20", AddressError::HostBits),
            ("192.0.2.9 - 192.0.2.1", AddressError::Ends),
            ("192.0.2.9 - ::1", AddressError::Ends),
        ] {
            assert_eq!(parse_range(text), Err(error), "{text}");
        }
    }
}
