//! Objects of a WHOIS dump.

use hierarchy::{Country, Range, Registry};

/// A range of addresses and its attributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Net<'a> {
    /// An object with several ranges becomes several nets.
    pub range: Range,
    /// The registry of the dump.
    pub registry: Registry,
    /// The registry's handle of the organisation that holds the range.
    pub organisation: Option<&'a str>,
    /// Name of the holder; LACNIC and ARIN's customers only.
    pub owner: Option<&'a str>,
    /// First line of the description; often the holder's name.
    pub description: Option<&'a str>,
    /// Name of the net, without blanks.
    pub netname: Option<&'a str>,
    /// First maintainer that is not the registry itself.
    pub maintainer: Option<&'a str>,
    /// Kind of delegation, in the registry's words.
    pub status: Option<&'a str>,
    /// The first country that is named.
    pub country: Option<Country>,
    /// Whether more than one country is named.
    pub more_countries: bool,
    /// Day of the last change as digits, 20181013; 0 where it is unknown.
    pub changed: u32,
}

/// A holder of ranges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Organisation<'a> {
    /// The registry of the dump.
    pub registry: Registry,
    /// The registry's handle.
    pub handle: &'a str,
    /// Name as registered.
    pub name: Option<&'a str>,
    /// Country as registered.
    pub country: Option<Country>,
}

/// An object of a class that matters here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Object<'a> {
    /// `inetnum`, `inet6num`, `NetHandle`, `V6NetHandle`, `<net>`.
    Net(Net<'a>),
    /// `organisation`, `OrgID`, `CustHandle`, `<org>`, `<customer>`.
    Organisation(Organisation<'a>),
}

impl Object<'_> {
    /// The registry of the dump.
    pub fn registry(&self) -> Registry {
        match self {
            Self::Net(net) => net.registry,
            Self::Organisation(organisation) => organisation.registry,
        }
    }
}

/// The registry that a `source:` attribute names. RIPE's copies of other registries carry `-GRS`,
/// and national registries publish in APNIC's dumps.
pub(super) fn registry_of_source(source: &str) -> Option<Registry> {
    let word = source.split(|c: char| c.is_ascii_whitespace() || c == '#').next()?;
    let word = word.to_ascii_uppercase();
    match word.strip_suffix("-GRS").unwrap_or(&word) {
        // TEST is the RIPE NCC's training database.
        "RIPE" | "TEST" => Some(Registry::RipeNcc),
        "APNIC" | "JPNIC" | "KRNIC" | "TWNIC" | "CNNIC" | "IDNIC" | "IRINN" | "VNNIC" => {
            Some(Registry::Apnic)
        }
        "ARIN" => Some(Registry::Arin),
        "LACNIC" => Some(Registry::Lacnic),
        "AFRINIC" => Some(Registry::Afrinic),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_names_a_registry() {
        assert_eq!(registry_of_source("RIPE"), Some(Registry::RipeNcc));
        assert_eq!(registry_of_source("RIPE # Filtered"), Some(Registry::RipeNcc));
        assert_eq!(registry_of_source("AFRINIC-GRS"), Some(Registry::Afrinic));
        assert_eq!(registry_of_source("jpnic"), Some(Registry::Apnic));
        assert_eq!([registry_of_source("RADB"), registry_of_source("")], [None, None]);
    }
}
