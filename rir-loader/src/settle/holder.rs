//! Holder of a range according to a WHOIS object.
//!
//! RIPE requires an organisation only on the ranges it delegates itself (`needsOrgReference` in its
//! software); what providers assign to their customers mostly has none. Then the next best
//! attribute identifies the holder: LACNIC's owner, the first line of the description, the name of
//! the net, the maintainer.

use serde::Serialize;

use crate::whois::Net;

/// Attribute that identifies a company, the most reliable first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CompanyKey {
    /// The registry's handle of an organisation.
    Organisation,
    /// Name of the owner at LACNIC.
    Owner,
    /// Opaque id of a delegated file.
    Delegated,
    /// First line of the description.
    Description,
    /// Name of the net.
    Netname,
    /// Maintainer of the object.
    Maintainer,
    /// Opaque id of a delegated file that unrelated holders share (see [`super::MAX_RANGES`]).
    Umbrella,
    /// Autonomous system that announces the range.
    Route,
    /// Holder of the smallest range around.
    Ancestor,
    /// No holder, not even around.
    Nobody,
}

impl CompanyKey {
    /// Prefix of a handle made from a text, which keeps it apart from the registry's handles.
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

/// A handle without the prefix of [`CompanyKey::prefix`].
pub(crate) fn readable(handle: &str) -> &str {
    let made =
        [CompanyKey::Owner, CompanyKey::Description, CompanyKey::Netname, CompanyKey::Maintainer];
    made.iter().find_map(|basis| handle.strip_prefix(basis.prefix())).unwrap_or(handle)
}

/// The first attribute that identifies the holder, and its text.
pub(super) fn holder<'n>(net: &Net<'n>) -> Option<(CompanyKey, &'n str)> {
    let chain = [
        (CompanyKey::Organisation, net.organisation),
        (CompanyKey::Owner, net.owner),
        (CompanyKey::Description, net.description),
        (CompanyKey::Netname, net.netname),
        (CompanyKey::Maintainer, net.maintainer),
    ];
    chain.into_iter().find_map(|(basis, text)| Some((basis, text.filter(|text| is_name(text))?)))
}

/// Words that registrants write where a name should be.
const NO_NAMES: [&str; 16] = [
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

fn is_name(text: &str) -> bool {
    let text = text.trim();
    let has_letters = text.chars().any(char::is_alphanumeric);
    has_letters && !NO_NAMES.iter().any(|word| text.eq_ignore_ascii_case(word))
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
    fn the_first_attribute_with_a_name_counts() {
        let mut net = net();
        assert_eq!(holder(&net), Some((CompanyKey::Organisation, "ORG-EX1-RIPE")));
        net.organisation = None;
        assert_eq!(holder(&net), Some((CompanyKey::Owner, "Owner")));
        net.owner = None;
        assert_eq!(holder(&net), Some((CompanyKey::Description, "Example Widgets")));
        net.description = Some("Private Customer");
        assert_eq!(holder(&net), Some((CompanyKey::Netname, "EXAMPLE-NET")));
        net.netname = Some("---");
        assert_eq!(holder(&net), Some((CompanyKey::Maintainer, "EXAMPLE-MNT")));
        net.maintainer = None;
        assert_eq!(holder(&net), None);
    }

    #[test]
    fn a_handle_made_from_a_text_is_shown_as_the_text() {
        assert_eq!(readable("descr:Example Widgets"), "Example Widgets");
        assert_eq!(readable("ORG-EX1-RIPE"), "ORG-EX1-RIPE");
    }
}
