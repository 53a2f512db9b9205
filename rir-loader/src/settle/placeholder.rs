//! Recognises objects without a holder.
//!
//! Every registry records the space of the others, or all space, with an object that says so:
//! RIPE's `0.0.0.0 - 255.255.255.255` and `NON-RIPE-NCC-MANAGED-ADDRESS-BLOCK`, APNIC's and
//! LACNIC's `ERX-NETBLOCK` and `IANA-NETBLOCK-193`, ARIN's nets of type `rir` ("APNIC-1",
//! "RIPE-ERX-…"). As subnets they would unite unrelated companies under one holder and hide the
//! ranges around them.

use hierarchy::Range;

use crate::whois::Net;

/// Why an object is a placeholder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Placeholder {
    /// All addresses of a family.
    AllAddresses,
    /// Its name or its description says that another registry manages the space, or none.
    NameOrDescription,
    /// Its type says so; ARIN only.
    Status,
}

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

/// Whether and why an object is a placeholder.
pub(super) fn placeholder(net: &Net<'_>) -> Option<Placeholder> {
    if net.range == Range::V4 || net.range == Range::V6 {
        return Some(Placeholder::AllAddresses);
    }
    let status = net.status.unwrap_or_default().to_ascii_lowercase();
    if ["rir", "reserved", "unallocated"].contains(&status.as_str()) {
        return Some(Placeholder::Status);
    }
    let name = net.netname.unwrap_or_default().to_ascii_uppercase();
    let description = net.description.unwrap_or_default().to_ascii_lowercase();
    let is_placeholder = NAMES.iter().any(|start| name.starts_with(start))
        || PHRASES.iter().any(|phrase| description.contains(phrase));
    is_placeholder.then_some(Placeholder::NameOrDescription)
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
        for (range, name, description, status, why) in [
            ("0.0.0.0/0", "X", "", "", Placeholder::AllAddresses),
            ("::/0", "ROOT", "", "", Placeholder::AllAddresses),
            (
                "6.0.0.0 - 13.115.255.255",
                "NON-RIPE-NCC-MANAGED-ADDRESS-BLOCK",
                "",
                "",
                Placeholder::NameOrDescription,
            ),
            ("193.0.0.0/8", "IANA-NETBLOCK-193", "", "", Placeholder::NameOrDescription),
            ("192.0.2.0/24", "ERX-NETBLOCK", "", "", Placeholder::NameOrDescription),
            (
                "1.0.0.0/8",
                "X",
                "This range is not fully allocated to APNIC",
                "",
                Placeholder::NameOrDescription,
            ),
            ("1.0.0.0/8", "APNIC-1", "", "rir", Placeholder::Status),
        ] {
            assert_eq!(
                placeholder(&net(range, name, description, status)),
                Some(why),
                "{name} {range}"
            );
        }
    }

    #[test]
    fn nets_of_holders_are_not_placeholders() {
        for (name, description, status) in [
            ("EXAMPLE-NET", "Example Widgets", "ASSIGNED PA"),
            ("DIANA-NET", "Diana", ""),
            ("É", "", "LEGACY"),
        ] {
            assert_eq!(
                placeholder(&net("192.0.2.0/24", name, description, status)),
                None,
                "{name}"
            );
        }
    }
}
