//! Terms of use of the registries' WHOIS data, in short; the registry's own text is binding.

use std::fmt;

use hierarchy::Registry;

use crate::read::{Contents, SourceFile};

/// Terms of one registry's WHOIS data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terms {
    /// Registry of the data.
    pub registry: Registry,
    /// What is allowed, in one clause.
    pub summary: &'static str,
    /// Page with the full text.
    pub url: &'static str,
}

/// `terms of the WHOIS data of apnic: …; see …`
impl fmt::Display for Terms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "terms of the WHOIS data of {}: {}; see {}",
            self.registry, self.summary, self.url
        )
    }
}

/// The terms of all dumps among the files, each once. Delegated files are open.
pub fn terms_of(files: &[SourceFile]) -> Vec<Terms> {
    let has_dump = |registry: &Registry| {
        let is_whois = |file: &&SourceFile| matches!(file.contents, Contents::Whois(_));
        files.iter().filter(is_whois).any(|file| file.registry == Some(*registry))
    };
    Registry::ALL.into_iter().filter(has_dump).map(whois_terms).collect()
}

/// The terms of a registry's WHOIS data.
pub fn whois_terms(registry: Registry) -> Terms {
    let (summary, url) = match registry {
        Registry::Afrinic => (
            "for operating and researching the Internet; no copy in bulk may be passed on",
            "https://afrinic.net/support/whois",
        ),
        Registry::Apnic => (
            "no copy in bulk may be passed on, no direct marketing, no mapping of addresses to \
             places",
            "https://www.apnic.net/manage-ip/using-whois/bulk-access/copyright/",
        ),
        Registry::Arin => (
            "only under an agreement with ARIN, for operation or research that benefits the \
             community; not to be passed on",
            "https://www.arin.net/reference/research/bulkwhois/",
        ),
        Registry::Lacnic => (
            "only under an agreement with LACNIC; not to be passed on",
            "https://www.lacnic.net/en/web/lacnic/manual-8",
        ),
        Registry::RipeNcc => (
            "for the purposes named in the RIPE Database terms; no more than an insubstantial part \
             may be passed on",
            "https://www.ripe.net/manage-ips-and-asns/db/support/documentation/terms",
        ),
    };
    Terms { registry, summary, url }
}

/// How to obtain the WHOIS data of a registry that gives it by agreement only; `None` for the
/// registries that publish it.
pub fn access_by_agreement(registry: Registry) -> Option<&'static str> {
    match registry {
        Registry::Arin => Some(
            "ARIN gives its bulk WHOIS to those who apply for it: with an ARIN Online account, \
             accept the terms of use and request access, then download arin_db.zip with your API \
             key. See https://www.arin.net/reference/research/bulkwhois/",
        ),
        Registry::Lacnic => Some(
            "LACNIC gives its bulk WHOIS to those who ask for it and sign its terms, then lets \
             them download it after a login. See https://www.lacnic.net/en/web/lacnic/manual-8",
        ),
        Registry::Afrinic | Registry::Apnic | Registry::RipeNcc => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fetch::Mirror;

    #[test]
    fn a_dump_is_published_or_given_by_agreement() {
        for registry in Registry::ALL {
            let open = Mirror::official_whois(registry).unwrap().is_some();
            assert_ne!(open, access_by_agreement(registry).is_some(), "{registry}");
        }
    }
}
