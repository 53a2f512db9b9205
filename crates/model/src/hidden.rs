//! What an admin may hide from the search: a site or a page.

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};
use url::Host;

use crate::url::{CrawlUrl, UrlError};

/// Longest name of the DNS (RFC 1035), in bytes.
const DOMAIN_MAX_BYTES: usize = 253;
/// Longest part of a name between two dots, in bytes.
const LABEL_MAX_BYTES: usize = 63;

/// What is hidden.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[derive(Serialize, Deserialize, EnumString, IntoStaticStr, VariantArray)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum HiddenKind {
    /// All pages of all hosts of a domain, or of an address.
    Site,
    /// The page with one URL.
    Page,
}

spelling!(HiddenKind);

/// A site, or a page by its URL. All spellings of the URL are the same page.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct HiddenTarget {
    kind: HiddenKind,
    text: String,
}

/// Why a text names neither a site nor a page.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HiddenTargetError {
    /// The text has a scheme and is no URL of a page.
    #[error("this is not the URL of a page: {0}")]
    Url(#[from] UrlError),
    /// The text has no scheme and is no domain.
    #[error(
        "this is neither a domain nor a URL: give a domain, such as example.org, which hides all \
         its hosts, or the whole URL of a page, such as https://example.org/page"
    )]
    Domain,
}

impl HiddenTarget {
    /// The site or page that an admin named: a domain or address, or a whole URL.
    pub fn parse(text: &str) -> Result<Self, HiddenTargetError> {
        let text = text.trim();
        if text.contains("://") {
            let url = CrawlUrl::parse(text)?;
            return Ok(Self { kind: HiddenKind::Page, text: url.into() });
        }
        let text = domain(text).ok_or(HiddenTargetError::Domain)?;
        Ok(Self { kind: HiddenKind::Site, text })
    }

    /// The sites that hide the page with this URL: its host, and the domains that contain it.
    pub fn sites_of(url: &CrawlUrl) -> Vec<String> {
        let mut targets = Vec::new();
        match url.host() {
            Some(Host::Domain(name)) => {
                let name = name.trim_end_matches('.');
                let parents = name.match_indices('.').map(|(dot, _)| &name[dot + 1..]);
                targets.extend(std::iter::once(name).chain(parents).map(str::to_owned));
            }
            Some(address) => targets.push(address.to_string()),
            None => {}
        }
        targets
    }

    /// Whether it is a site or a page.
    pub fn kind(&self) -> HiddenKind {
        self.kind
    }

    /// The domain in Punycode, or the normalised URL.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

/// A name or address as the host of a normalised URL has it, without a dot at its end.
fn domain(text: &str) -> Option<String> {
    let is_ipv6 = text.parse::<std::net::Ipv6Addr>().is_ok();
    let bracketed = is_ipv6.then(|| format!("[{text}]"));
    let text = bracketed.as_deref().unwrap_or(text).trim_matches('.');
    match Host::parse(text).ok()? {
        Host::Domain(name) => Some(name).filter(|name| is_name(name)),
        address => Some(address.to_string()),
    }
}

/// The URL rules accept any name. The DNS has shorter ones only, and a word without a dot, such as
/// one that was cut short, would hide a whole top-level domain.
fn is_name(name: &str) -> bool {
    let fits = |label: &str| (1..=LABEL_MAX_BYTES).contains(&label.len());
    let is_usual = |b: u8| b.is_ascii_alphanumeric() || b"-_.".contains(&b);
    name.len() <= DOMAIN_MAX_BYTES
        && name.contains('.')
        && name.split('.').all(fits)
        && name.bytes().all(is_usual)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> (HiddenKind, String) {
        let target = HiddenTarget::parse(text).unwrap();
        (target.kind(), target.as_str().to_owned())
    }

    #[test]
    fn a_domain_is_a_site_in_the_form_of_the_index() {
        for (text, form) in [
            (" Example.ORG. ", "example.org"),
            ("www.bücher.example", "www.xn--bcher-kva.example"),
            ("my_shop.example", "my_shop.example"),
            ("192.0.2.1", "192.0.2.1"),
            ("2001:DB8::1", "[2001:db8::1]"),
            ("[2001:db8::1]", "[2001:db8::1]"),
        ] {
            assert_eq!(parse(text), (HiddenKind::Site, form.to_owned()), "{text}");
        }
    }

    #[test]
    fn a_url_is_a_page() {
        let page = "http://example.org/b?q=1";
        let parsed = parse("HTTP://Example.org:80/a/../b?q=1#top");
        assert_eq!(parsed, (HiddenKind::Page, page.to_owned()));
    }

    #[test]
    fn a_page_is_hidden_by_each_domain_that_contains_it() {
        let sites_of = |url| HiddenTarget::sites_of(&CrawlUrl::parse(url).unwrap());
        let expected = ["www.xn--bcher-kva.example", "xn--bcher-kva.example", "example"];
        assert_eq!(sites_of("https://www.bücher.example.:8443/a#b"), expected);
        assert_eq!(sites_of("http://[2001:db8::1]/"), ["[2001:db8::1]"]);
    }

    #[test]
    fn other_texts_are_refused() {
        let long = format!("{}.example", "a".repeat(64));
        for text in [
            "",
            ".",
            "org",
            "two words.example",
            "example.org/page",
            "example.org:8080",
            "*.example.org",
            "a..example",
            "me@example.org",
            "a,b.example",
            &long,
        ] {
            assert_eq!(HiddenTarget::parse(text), Err(HiddenTargetError::Domain), "{text}");
        }
        let error = HiddenTarget::parse("ftp://example.org/").unwrap_err();
        assert!(matches!(error, HiddenTargetError::Url(UrlError::Scheme(_))), "{error}");
    }
}
