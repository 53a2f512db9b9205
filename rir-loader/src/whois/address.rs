//! Ranges as the registries write them.
//!
//! `193.0.0.0 - 193.0.7.255`, `2001:db8::/32`, LACNIC's `24.232.16/24` with the last octets left
//! out, and numbers with leading zeros (`080.016.151.191`), which are decimal all the same.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use hierarchy::Range;

use crate::split::split_at;

/// What is wrong with the text of a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RangeFault {
    /// Neither a prefix nor two addresses.
    #[error("is neither a prefix (a/n) nor a range (a - b)")]
    Text,
    /// A prefix that is longer than an address.
    #[error("has a prefix length that no address has")]
    Length,
    /// Bits are set behind the prefix.
    #[error("has bits set beyond its prefix length")]
    HostBits,
    /// The last address comes before the first, or is of the other family.
    #[error("ends before it begins, or mixes IPv4 and IPv6")]
    Ends,
}

/// Reads a prefix, a range or one address.
pub fn parse_range(text: &str) -> Result<Range, RangeFault> {
    let text = text.trim_ascii();
    if let Some((first, last)) = split_at(text, b'-') {
        return parse_ends(first.trim_ascii(), last.trim_ascii());
    }
    match split_at(text, b'/') {
        Some((network, length)) => prefix(network.trim_ascii(), length.trim_ascii()),
        None => address(text).map(Range::from).ok_or(RangeFault::Text),
    }
}

/// Reads the first and the last address of a range.
pub fn parse_ends(first: &str, last: &str) -> Result<Range, RangeFault> {
    let (Some(first), Some(last)) = (address(first), address(last)) else {
        return Err(RangeFault::Text);
    };
    Range::new(first, last).map_err(|_| RangeFault::Ends)
}

fn prefix(network: &str, length: &str) -> Result<Range, RangeFault> {
    let bits: u32 =
        if length.len() <= 3 { length.parse().ok() } else { None }.ok_or(RangeFault::Text)?;
    if network.contains(':') {
        let first: Ipv6Addr = network.parse().map_err(|_| RangeFault::Text)?;
        let hosts = if bits > 128 { None } else { Some(u128::MAX.checked_shr(bits).unwrap_or(0)) };
        return span(first.to_bits(), hosts, |bits| IpAddr::V6(bits.into()));
    }
    let first = short_v4(network).ok_or(RangeFault::Text)?;
    let hosts = if bits > 32 { None } else { Some(u32::MAX.checked_shr(bits).unwrap_or(0)) };
    span(first, hosts, |bits| IpAddr::V4(bits.into()))
}

/// From a network and its host bits to the range.
fn span<N>(first: N, hosts: Option<N>, address: impl Fn(N) -> IpAddr) -> Result<Range, RangeFault>
where
    N: Copy + PartialEq + Default + std::ops::BitAnd<Output = N> + std::ops::BitOr<Output = N>,
{
    let hosts = hosts.ok_or(RangeFault::Length)?;
    if first & hosts != N::default() {
        return Err(RangeFault::HostBits);
    }
    Range::new(address(first), address(first | hosts)).map_err(|_| RangeFault::Ends)
}

/// A whole address. IPv6 may have its groups in full, in upper case, with `::`.
pub fn address(text: &str) -> Option<IpAddr> {
    if text.contains(':') {
        return text.parse().ok().map(IpAddr::V6);
    }
    let (bits, octets) = octets(text)?;
    (octets == 4).then(|| IpAddr::V4(Ipv4Addr::from_bits(bits)))
}

/// One to four octets; those left out are zero.
fn short_v4(text: &str) -> Option<u32> {
    let (bits, octets) = octets(text)?;
    Some(bits << (8 * (4 - octets)))
}

/// The octets one after the other, and how many there are.
fn octets(text: &str) -> Option<(u32, u32)> {
    let (mut bits, mut octets, mut rest) = (0, 0, text.as_bytes());
    loop {
        let (octet, behind) = octet(rest)?;
        bits = bits << 8 | octet;
        octets += 1;
        rest = match behind {
            [] => return Some((bits, octets)),
            [b'.', behind @ ..] if octets < 4 => behind,
            _ => return None,
        };
    }
}

/// The octet at the start, one to three digits, and what is behind it.
fn octet(text: &[u8]) -> Option<(u32, &[u8])> {
    let digits = text.iter().take(3).take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, behind) = text.split_at(digits);
    let octet = digits.iter().fold(0, |number, digit| number * 10 + u32::from(digit - b'0'));
    (!digits.is_empty() && octet <= 255).then_some((octet, behind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_of_writing_a_range_is_read() {
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
    fn what_is_no_range_says_why() {
        for (text, fault) in [
            ("", RangeFault::Text),
            ("nonsense", RangeFault::Text),
            ("192.0.2 - 192.0.3.0", RangeFault::Text),
            ("192.0.2.256 - 192.0.3.0", RangeFault::Text),
            ("192.0.2.0000/24", RangeFault::Text),
            ("1.2.3.4.5/24", RangeFault::Text),
            ("192.0.2.0/33", RangeFault::Length),
            ("2001:db8::/129", RangeFault::Length),
            ("192.0.2.1/24", RangeFault::HostBits),
            ("24.232.17/20", RangeFault::HostBits),
            ("192.0.2.9 - 192.0.2.1", RangeFault::Ends),
            ("192.0.2.9 - ::1", RangeFault::Ends),
        ] {
            assert_eq!(parse_range(text), Err(fault), "{text}");
        }
    }
}
