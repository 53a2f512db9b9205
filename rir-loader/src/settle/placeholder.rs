//! Objects that stand for no holder.
//!
//! Every registry records the space of the others, or all space, with an object that says so:
//! RIPE's `0.0.0.0 - 255.255.255.255` and `NON-RIPE-NCC-MANAGED-ADDRESS-BLOCK`, APNIC's and
//! LACNIC's `ERX-NETBLOCK` and `IANA-NETBLOCK-193`, ARIN's nets of type `rir` ("APNIC-1",
//! "RIPE-ERX-…"). They would gather strangers under one holder, and hide what is around them.

use hierarchy::Range;

use crate::whois::Net;

/// Why an object is a placeholder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placeholder {
    /// All addresses of a family.
    Everything,
    /// Its name or its description says that the space is elsewhere or nowhere.
    Elsewhere,
    /// ARIN: the type says that another registry maintains it, or nobody.
    OtherRegistry,
}

/// Beginnings of names of nets that nobody holds.
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

/// What descriptions say of space that nobody holds.
const SAYINGS: [&str; 5] = [
    "not allocated by apnic",
    "not allocated to apnic",
    "not fully allocated to apnic",
    "not managed by the ripe ncc",
    "address block not managed",
];

/// Whether an object is a placeholder.
pub fn placeholder(net: &Net<'_>) -> Option<Placeholder> {
    if net.range == Range::V4 || net.range == Range::V6 {
        return Some(Placeholder::Everything);
    }
    let status = net.status.unwrap_or_default();
    if ["rir", "reserved", "unallocated"].iter().any(|word| status.eq_ignore_ascii_case(word)) {
        return Some(Placeholder::OtherRegistry);
    }
    let named = net.netname.is_some_and(|name| NAMES.iter().any(|start| begins(name, start)));
    let said = || net.description.is_some_and(|text| says(&text.to_ascii_lowercase()));
    (named || said()).then_some(Placeholder::Elsewhere)
}

fn begins(name: &str, start: &str) -> bool {
    name.get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start))
}

fn says(description: &str) -> bool {
    SAYINGS.iter().any(|saying| description.contains(saying))
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
    fn placeholders_are_known_by_range_name_description_or_type() {
        for (range, name, description, status, why) in [
            ("0.0.0.0/0", "X", "", "", Placeholder::Everything),
            ("::/0", "ROOT", "", "", Placeholder::Everything),
            (
                "6.0.0.0 - 13.115.255.255",
                "NON-RIPE-NCC-MANAGED-ADDRESS-BLOCK",
                "",
                "",
                Placeholder::Elsewhere,
            ),
            ("193.0.0.0/8", "IANA-NETBLOCK-193", "", "", Placeholder::Elsewhere),
            ("192.0.2.0/24", "ERX-NETBLOCK", "", "", Placeholder::Elsewhere),
            (
                "1.0.0.0/8",
                "X",
                "This range is not fully allocated to APNIC",
                "",
                Placeholder::Elsewhere,
            ),
            ("1.0.0.0/8", "APNIC-1", "", "rir", Placeholder::OtherRegistry),
        ] {
            assert_eq!(
                placeholder(&net(range, name, description, status)),
                Some(why),
                "{name} {range}"
            );
        }
    }

    #[test]
    fn holders_are_not() {
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
