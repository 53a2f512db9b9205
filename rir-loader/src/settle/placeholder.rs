//! Recognises objects without a holder.
//!
//! Every registry records the space of the others, or all space, with an object that says so:
//! RIPE's `0.0.0.0 - 255.255.255.255` and `NON-RIPE-NCC-MANAGED-ADDRESS-BLOCK`, APNIC's and
//! LACNIC's `ERX-NETBLOCK` and `IANA-NETBLOCK-193`, ARIN's nets of type `rir` ("APNIC-1",
//! "RIPE-ERX-…"). As subnets they would unite unrelated companies under one holder and hide the
//! ranges around them.

use hierarchy::Range;

use crate::whois::Net;

/// Beginnings of the names of nets without a holder.
const NAMES: [&str; 10] = [
    "NON-RIPE-NCC-MANAGED-ADDRESS-BLOCK",
    "IANA-",
    "ERX-NETBLOCK",
    "EU-ZZ-",
    "NOT-MANAGED-BY-",
    "AFRINIC-NET-TRANSFERRED",
    "LACNIC-NOT-MANAGED",
    "APNIC-ERX-",
    "RIPE-ERX-",
    "STUB-",
];

/// Phrases in the descriptions of space without a holder.
const PHRASES: [&str; 5] = [
    "not allocated by apnic",
    "not allocated to apnic",
    "not fully allocated to apnic",
    "not managed by the ripe ncc",
    "address block not managed",
];

/// Whether an object is a placeholder: by its range, its type (ARIN only), its name or its
/// description.
pub(super) fn is_placeholder(net: &Net<'_>) -> bool {
    let status = net.status.unwrap_or_default().to_ascii_lowercase();
    let name = net.netname.unwrap_or_default().to_ascii_uppercase();
    let description = net.description.unwrap_or_default().to_ascii_lowercase();
    net.range == Range::V4
        || net.range == Range::V6
        || ["rir", "reserved", "unallocated"].contains(&status.as_str())
        || NAMES.iter().any(|start| name.starts_with(start))
        || PHRASES.iter().any(|phrase| description.contains(phrase))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hierarchy::Registry;

    fn net<'a>(range: &str, netname: &'a str, description: &'a str, status: &'a str) -> Net<'a> {
        Net {
            range: range.parse().unwrap(),
            registry: Registry::RipeNcc,
            organisation: None,
            owner: None,
            description: Some(description),
            netname: Some(netname),
            maintainer: None,
            status: Some(status),
            country: None,
            more_countries: false,
            changed: 0,
        }
    }

    #[test]
    fn placeholders_are_recognised_by_range_name_description_or_type() {
        for (range, name, description, status) in [
            ("0.0.0.0/0", "X", "", ""),
            ("::/0", "ROOT", "", ""),
            ("6.0.0.0 - 13.115.255.255", "NON-RIPE-NCC-MANAGED-ADDRESS-BLOCK", "", ""),
            ("193.0.0.0/8", "IANA-NETBLOCK-193", "", ""),
            ("192.0.2.0/24", "ERX-NETBLOCK", "", ""),
            ("1.0.0.0/8", "X", "This range is not fully allocated to APNIC", ""),
            ("1.0.0.0/8", "APNIC-1", "", "rir"),
        ] {
            assert!(is_placeholder(&net(range, name, description, status)), "{name} {range}");
        }
    }

    #[test]
    fn nets_of_holders_are_not_placeholders() {
        for (name, description, status) in [
            ("EXAMPLE-NET", "Example Widgets", "ASSIGNED PA"),
            ("DIANA-NET", "Diana", ""),
            ("É", "", "LEGACY"),
        ] {
            assert!(!is_placeholder(&net("192.0.2.0/24", name, description, status)), "{name}");
        }
    }
}
