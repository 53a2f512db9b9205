//! What each registry allows to be done with its data, in our words; the registry's own count.

use hierarchy::Registry;

use crate::read::{Contents, SourceFile};

/// The terms of one source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terms {
    /// Whose data.
    pub registry: Registry,
    /// What to keep in mind.
    pub summary: &'static str,
    /// Where the terms are.
    pub url: &'static str,
}

/// The terms that apply to what was read, each once. Delegated files are open; dumps are not.
pub fn terms_of(files: &[SourceFile]) -> Vec<Terms> {
    let of_dump = |registry: &Registry| {
        let whois = |file: &&SourceFile| matches!(file.contents, Contents::Whois(_));
        files.iter().filter(whois).any(|file| file.registry == Some(*registry))
    };
    Registry::ALL.into_iter().filter(of_dump).map(whois_terms).collect()
}

/// The terms of a registry's WHOIS data.
pub fn whois_terms(registry: Registry) -> Terms {
    let (summary, url) = match registry {
        Registry::Afrinic => (
            "for operating and researching the Internet; no copy in bulk may be passed on",
            "https://afrinic.net/support/whois",
        ),
        Registry::Apnic => (
            "no copy in bulk may be passed on, no direct marketing, no mapping of addresses to places",
            "https://www.apnic.net/manage-ip/using-whois/bulk-access/copyright/",
        ),
        Registry::Arin => (
            "only under an agreement with ARIN, for operation or research that benefits the community; not to be passed on",
            "https://www.arin.net/reference/research/bulkwhois/",
        ),
        Registry::Lacnic => (
            "only under an agreement with LACNIC; not to be passed on",
            "https://www.lacnic.net/en/web/lacnic/manual-8",
        ),
        Registry::RipeNcc => (
            "for the purposes named in the RIPE Database terms; no more than an insubstantial part may be passed on",
            "https://www.ripe.net/manage-ips-and-asns/db/support/documentation/terms",
        ),
    };
    Terms { registry, summary, url }
}
