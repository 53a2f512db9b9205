//! What a WHOIS dump says, one object at a time.

use hierarchy::{Country, Range, Registry};

/// A range and all that is said of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Net<'a> {
    /// The addresses.
    pub range: Range,
    /// Whose dump it is in.
    pub registry: Registry,
    /// The registry's handle of an organisation.
    pub organisation: Option<&'a str>,
    /// LACNIC: the holder's name.
    pub owner: Option<&'a str>,
    /// First line of the description; often the holder's name.
    pub description: Option<&'a str>,
    /// A name of the net, without blanks.
    pub netname: Option<&'a str>,
    /// Who may change the object.
    pub maintainer: Option<&'a str>,
    /// What became of the range, in the registry's words.
    pub status: Option<&'a str>,
    /// The first country that is named, two letters of either case.
    pub country: Option<Country>,
    /// Whether more than one country is named.
    pub more_countries: bool,
    /// Day of the last change as digits, 20181013; 0 where it is not said.
    pub changed: u32,
}

/// Somebody who holds ranges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Organisation<'a> {
    /// Whose dump it is in.
    pub registry: Registry,
    /// The registry's handle.
    pub handle: &'a str,
    /// What people call it.
    pub name: Option<&'a str>,
    /// Where it is.
    pub country: Option<Country>,
}

/// An object that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Object<'a> {
    /// A range.
    Net(Net<'a>),
    /// Who holds ranges.
    Organisation(Organisation<'a>),
}

impl Object<'_> {
    /// Whose dump it is in.
    pub fn registry(&self) -> Registry {
        match self {
            Self::Net(net) => net.registry,
            Self::Organisation(organisation) => organisation.registry,
        }
    }
}

/// The registry that a `source:` names; RIPE's global copies carry `-GRS`, and national registries
/// publish in APNIC's.
pub fn registry_of(source: &str) -> Option<Registry> {
    let word = source.split(|c: char| c.is_ascii_whitespace() || c == '#').next()?;
    let word = word.strip_suffix("-GRS").unwrap_or(word);
    let is = |names: &[&str]| names.iter().any(|name| word.eq_ignore_ascii_case(name));
    let known = [
        // TEST is the RIPE NCC's own database to try things in.
        (is(&["RIPE", "TEST"]), Registry::RipeNcc),
        (
            is(&["APNIC", "JPNIC", "KRNIC", "TWNIC", "CNNIC", "IDNIC", "IRINN", "VNNIC"]),
            Registry::Apnic,
        ),
        (is(&["ARIN"]), Registry::Arin),
        (is(&["LACNIC"]), Registry::Lacnic),
        (is(&["AFRINIC"]), Registry::Afrinic),
    ];
    known.into_iter().find_map(|(is, registry)| is.then_some(registry))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_names_a_registry() {
        assert_eq!(registry_of("RIPE"), Some(Registry::RipeNcc));
        assert_eq!(registry_of("RIPE # Filtered"), Some(Registry::RipeNcc));
        assert_eq!(registry_of("AFRINIC-GRS"), Some(Registry::Afrinic));
        assert_eq!(registry_of("jpnic"), Some(Registry::Apnic));
        assert_eq!([registry_of("RADB"), registry_of("")], [None, None]);
    }
}
