//! Who holds a range, from what an object says.
//!
//! RIPE asks for an organisation only where it delegates itself (`needsOrgReference` in its
//! software); what providers assign to their customers mostly has none. Then the next best says who
//! it is: LACNIC's owner, the first line of the description, the name of the net, who maintains it.
//! `sponsoring-org` is the provider, not the holder, and is not looked at.

use crate::whois::Net;

/// What a company was taken from, the most telling first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Basis {
    /// The registry's handle of an organisation.
    Organisation,
    /// LACNIC's owner.
    Owner,
    /// The opaque id of a delegated file.
    Delegated,
    /// The first line of the description.
    Description,
    /// The name of the net.
    Netname,
    /// Who maintains the object.
    Maintainer,
    /// The opaque id of a delegated file that many strangers share (see [`super::umbrella`]).
    Umbrella,
    /// The autonomous system that announces the range.
    Route,
    /// Nothing.
    Nobody,
}

impl Basis {
    /// What a handle that was made from a text begins with, so that it cannot be taken for one of
    /// the registry's.
    pub(super) fn prefix(self) -> &'static str {
        match self {
            Self::Owner => "owner:",
            Self::Description => "descr:",
            Self::Netname => "netname:",
            Self::Maintainer => "mnt:",
            Self::Route => "asn:",
            _ => "",
        }
    }
}

/// The part of a handle that people read: without the prefix of a handle that we made.
pub fn readable(handle: &str) -> &str {
    let made = [Basis::Owner, Basis::Description, Basis::Netname, Basis::Maintainer];
    made.iter().find_map(|basis| handle.strip_prefix(basis.prefix())).unwrap_or(handle)
}

/// Who holds the range, and what that was taken from; `None` where the object names nobody.
pub fn holder<'n>(net: &Net<'n>) -> Option<(Basis, &'n str)> {
    let chain = [
        (Basis::Organisation, net.organisation),
        (Basis::Owner, net.owner),
        (Basis::Description, net.description),
        (Basis::Netname, net.netname),
        (Basis::Maintainer, net.maintainer),
    ];
    chain
        .into_iter()
        .find_map(|(basis, text)| Some((basis, text.filter(|text| names_somebody(text))?)))
}

/// Words that stand where a name should.
const NOBODY: [&str; 16] = [
    "-",
    "n/a",
    "na",
    "none",
    "null",
    "unknown",
    "private",
    "customer",
    "private customer",
    "residential customer",
    "private residence",
    "reserved",
    "not available",
    "infrastructure",
    "assigned",
    "allocated",
];

/// Whether a text names a holder, and is no stopgap.
fn names_somebody(text: &str) -> bool {
    let text = text.trim();
    let has_letters = text.chars().any(char::is_alphanumeric);
    has_letters && !NOBODY.iter().any(|word| text.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hierarchy::{Range, Registry};

    fn net() -> Net<'static> {
        Net {
            range: Range::V4,
            registry: Registry::RipeNcc,
            organisation: Some("ORG-EX1-RIPE"),
            owner: Some("Owner"),
            description: Some("Example Widgets"),
            netname: Some("EXAMPLE-NET"),
            maintainer: Some("EXAMPLE-MNT"),
            status: None,
            country: None,
            more_countries: false,
            changed: 0,
        }
    }

    #[test]
    fn the_chain_is_followed_to_the_first_name() {
        let mut net = net();
        assert_eq!(holder(&net), Some((Basis::Organisation, "ORG-EX1-RIPE")));
        net.organisation = None;
        assert_eq!(holder(&net), Some((Basis::Owner, "Owner")));
        net.owner = None;
        assert_eq!(holder(&net), Some((Basis::Description, "Example Widgets")));
        net.description = Some("Private Customer");
        assert_eq!(holder(&net), Some((Basis::Netname, "EXAMPLE-NET")));
        net.netname = Some("---");
        assert_eq!(holder(&net), Some((Basis::Maintainer, "EXAMPLE-MNT")));
        net.maintainer = None;
        assert_eq!(holder(&net), None);
    }

    #[test]
    fn a_made_handle_reads_as_its_text() {
        assert_eq!(readable("descr:Example Widgets"), "Example Widgets");
        assert_eq!(readable("ORG-EX1-RIPE"), "ORG-EX1-RIPE");
    }
}
