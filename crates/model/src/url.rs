//! URL rules of coordinator and agents: what may be crawled, host keys, fingerprints.
//!
//! A [`CrawlUrl`] is an absolute http or https URL in WHATWG form, without fragment and
//! credentials, of at most [`MAX_BYTES`] bytes. It is stored, sent and reported in that form. Two
//! spellings that RFC 3986 section 6.2.2 calls equivalent, or that differ in nothing but a session
//! or a campaign, have the same [`Fingerprint`], so that a page is fetched once.

use std::{borrow::Cow, fmt};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use sha2::{Digest as _, Sha256};
use url::{EncodingOverride, Host, Position, Url};

use crate::{traps, visitor_ids::without_visitor_ids};

/// Longest URL, in bytes.
pub const MAX_BYTES: usize = 2_048;
/// Longest name of a host, as in the DNS with its final dot.
const HOST_BYTES: usize = 254;

/// Why a text is no URL for a crawler.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    /// Not a URL by the WHATWG rules.
    #[error("not an absolute URL: {0}")]
    Syntax(url::ParseError),
    /// Not http or https.
    #[error("only http and https are crawled, not {0}")]
    Scheme(String),
    /// Carries a user name or password.
    #[error("carries a user name or password")]
    Credentials,
    /// Longer than [`MAX_BYTES`].
    #[error("longer than {MAX_BYTES} bytes")]
    TooLong,
    /// The name of its host is longer than any in the DNS.
    #[error("the name of its host is longer than {HOST_BYTES} bytes")]
    HostTooLong,
    /// The name of its host has characters that no name in the DNS has.
    #[error(
        "the name of its host has other characters than letters, digits, hyphens, underscores, \
         stars and dots"
    )]
    HostCharacters,
    /// Repeats segments or parameters so often that the site must be endless.
    #[error("repeats segments or parameters, as endless sites do")]
    Trap,
}

/// Identifies a URL: the first 16 bytes of the SHA-256 of its canonical spelling.
pub type Fingerprint = [u8; 16];

/// The fingerprint of a URL in the form of [`CrawlUrl::as_str`].
pub fn fingerprint(normalised: &str) -> Fingerprint {
    let spelling = canonical_escapes(normalised);
    let digest: [u8; 32] = Sha256::digest(without_visitor_ids(&spelling).as_bytes()).into();
    let mut short = Fingerprint::default();
    short.copy_from_slice(&digest[..16]);
    short
}

/// Scheme and authority, the unit of politeness: `https://example.org:8443`. The port is absent
/// where it is the default of the scheme.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostKey(String);

impl HostKey {
    /// As written in a URL, without the slash that starts the path.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// `http` or `https`.
    pub fn scheme(&self) -> &str {
        self.0.split_once("://").map_or("", |(scheme, _)| scheme)
    }

    /// Host name or address, with the port where it is not the default.
    pub fn authority(&self) -> &str {
        self.0.split_once("://").map_or("", |(_, authority)| authority)
    }
}

impl fmt::Display for HostKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A URL that may be crawled.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CrawlUrl(Url);

impl CrawlUrl {
    /// The URL in `text`, which must be absolute; blanks around it are ignored.
    pub fn parse(text: &str) -> Result<Self, UrlError> {
        if text.len() > 4 * MAX_BYTES {
            return Err(UrlError::TooLong);
        }
        Self::new(Url::parse(text).map_err(UrlError::Syntax)?)
    }

    /// The URL that a link with this `reference` leads to from a document whose base is `base`.
    pub fn join(base: &Url, reference: &str) -> Result<Self, UrlError> {
        Self::join_encoded(base, reference, None)
    }

    /// The same for a document whose encoding is not UTF-8: its queries are in its encoding, as in
    /// browsers, and its paths in UTF-8.
    pub fn join_encoded(
        base: &Url,
        reference: &str,
        query: EncodingOverride<'_>,
    ) -> Result<Self, UrlError> {
        if reference.len() > 4 * MAX_BYTES {
            return Err(UrlError::TooLong);
        }
        let options = Url::options().base_url(Some(base)).encoding_override(query);
        Self::new(options.parse(reference).map_err(UrlError::Syntax)?)
    }

    /// Normalises `url`, or says why it may not be crawled.
    pub fn new(mut url: Url) -> Result<Self, UrlError> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(UrlError::Scheme(url.scheme().chars().take(32).collect()));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(UrlError::Credentials);
        }
        url.set_fragment(None);
        if url.as_str().len() > MAX_BYTES {
            return Err(UrlError::TooLong);
        }
        if url.host_str().is_some_and(|host| host.len() > HOST_BYTES) {
            return Err(UrlError::HostTooLong);
        }
        if url.domain().is_some_and(|name| !is_name(name)) {
            return Err(UrlError::HostCharacters);
        }
        let is_trap = traps::is_endless(url.path(), url.query());
        if is_trap { Err(UrlError::Trap) } else { Ok(Self(url)) }
    }

    /// A URL that was stored in the form of [`CrawlUrl::as_str`]. The rules may be stricter now, so
    /// that it is to be parsed again before it is crawled.
    pub fn stored(text: &str) -> Result<Self, UrlError> {
        Url::parse(text).map(Self).map_err(UrlError::Syntax)
    }

    /// The start page of the host with this scheme and authority.
    pub fn of_host(scheme: &str, authority: &str) -> Result<Self, UrlError> {
        Self::parse(&format!("{scheme}://{authority}/"))
    }

    /// The whole URL, normalised.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// The value of the `url` crate, as a base for links.
    pub fn url(&self) -> &Url {
        &self.0
    }

    /// The host that the URL belongs to.
    pub fn host_key(&self) -> HostKey {
        HostKey(self.host_key_str().to_owned())
    }

    /// The same as [`HostKey::as_str`] has it: the part of the URL before the path. The WHATWG form
    /// has no default port, and a crawler's URL has no user name.
    pub fn host_key_str(&self) -> &str {
        &self.0[..Position::BeforePath]
    }

    /// Name or address of the host. It is never none for http and https, though the type of the
    /// `url` crate allows it.
    pub fn host(&self) -> Option<Host<&str>> {
        self.0.host()
    }

    /// TCP port: as given, else the default of the scheme.
    pub fn port(&self) -> u16 {
        self.0.port_or_known_default().unwrap_or(0)
    }

    /// Path and query, as the request line and the rules of robots.txt have them.
    pub fn path_and_query(&self) -> &str {
        &self.0[Position::BeforePath..Position::AfterQuery]
    }

    /// Whether requests go over TLS.
    pub fn is_https(&self) -> bool {
        self.0.scheme() == "https"
    }

    /// The robots.txt of this URL's host.
    #[must_use]
    pub fn robots(&self) -> Self {
        let mut url = self.0.clone();
        url.set_path("/robots.txt");
        url.set_query(None);
        Self(url)
    }

    /// The same for all equivalent spellings of the URL.
    pub fn fingerprint(&self) -> Fingerprint {
        fingerprint(self.as_str())
    }
}

impl From<CrawlUrl> for String {
    fn from(url: CrawlUrl) -> Self {
        url.0.into()
    }
}

impl fmt::Display for CrawlUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for CrawlUrl {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for CrawlUrl {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}

/// Whether a name has only characters that names in the DNS have. The rules of URLs permit others,
/// such as `;`, `=` and `$`. Underscores are against the rules but occur, and a star is part of the
/// name of a wildcard.
fn is_name(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.*".contains(&byte))
}

/// `text` with escapes in upper case, and without escapes of unreserved characters (RFC 3986
/// section 6.2.2).
fn canonical_escapes(text: &str) -> Cow<'_, str> {
    if !text.contains('%') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('%') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        // A percent sign that starts no escape stays, as browsers send it.
        let Some(byte) = escaped_byte(rest) else {
            out.push('%');
            rest = &rest[1..];
            continue;
        };
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&rest[..3].to_ascii_uppercase());
        }
        rest = &rest[3..];
    }
    out.push_str(rest);
    Cow::Owned(out)
}

fn escaped_byte(text: &str) -> Option<u8> {
    let digits = text.get(1..3).filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()))?;
    u8::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> CrawlUrl {
        CrawlUrl::parse(text).unwrap()
    }

    #[test]
    fn urls_are_normalised() {
        for (text, form) in [
            ("HTTP://Example.ORG:80/a/../b?q=1#top", "http://example.org/b?q=1"),
            ("https://example.org", "https://example.org/"),
            ("https://example.org:443/", "https://example.org/"),
            ("http://bücher.example/ä?ö", "http://xn--bcher-kva.example/%C3%A4?%C3%B6"),
            ("http://0x7f.1/", "http://127.0.0.1/"),
            ("http://2130706433/", "http://127.0.0.1/"),
            ("http://[::FFFF:1.2.3.4]/", "http://[::ffff:102:304]/"),
        ] {
            assert_eq!(parse(text).as_str(), form);
        }
    }

    #[test]
    fn urls_that_may_not_be_crawled_are_refused() {
        assert!(matches!(CrawlUrl::parse("/relative"), Err(UrlError::Syntax(_))));
        assert_eq!(CrawlUrl::parse("ftp://example.org/"), Err(UrlError::Scheme("ftp".into())));
        assert_eq!(
            CrawlUrl::parse("javascript:alert(1)"),
            Err(UrlError::Scheme("javascript".into()))
        );
        assert_eq!(CrawlUrl::parse("http://u:p@example.org/"), Err(UrlError::Credentials));
        let long = format!("http://example.org/{}", "a".repeat(2_048));
        assert_eq!(CrawlUrl::parse(&long), Err(UrlError::TooLong));
        assert_eq!(CrawlUrl::parse(&"x".repeat(1 << 20)), Err(UrlError::TooLong));
        let host = |length| format!("http://{}/", "a".repeat(length));
        assert_eq!(CrawlUrl::parse(&host(255)), Err(UrlError::HostTooLong));
        assert!(CrawlUrl::parse(&host(254)).is_ok());
        assert_eq!(
            CrawlUrl::parse("http://example.org/a/b/a/b/a/b/a/b/a/b/a/b/a"),
            Err(UrlError::Trap)
        );
        assert!(CrawlUrl::parse("http://example.org/2026/11/20/a/b/c/d").is_ok());
    }

    #[test]
    fn names_that_the_dns_cannot_have_are_refused() {
        let characters = "!\"$&'()+,;=`{}~";
        let hosts = characters.chars().map(|character| format!("a{character}b.example"));
        let hosts = hosts.chain(["e.org;utm_x", "e.org%3Butm_x", "e.org；utm_x"].map(String::from));
        for host in hosts {
            let refused = CrawlUrl::parse(&format!("http://{host}/page"));
            assert_eq!(refused, Err(UrlError::HostCharacters), "{host}");
        }
        for refused in ["a b.example", "a|b.example", "a^b.example", "a%b.example"] {
            let refused = CrawlUrl::parse(&format!("http://{refused}/"));
            assert!(matches!(refused, Err(UrlError::Syntax(_))), "{refused:?}");
        }
        for host in ["my_shop.example", "_dmarc.example", "*.example", "-a.example.", "bücher.ch"]
        {
            assert!(CrawlUrl::parse(&format!("http://{host}/")).is_ok(), "{host}");
        }
    }

    #[test]
    fn equivalent_spellings_have_one_fingerprint() {
        let same = ["http://e.org/~a/%2f", "http://E.org/%7ea/%2F", "http://e.org:80/%7Ea/%2f#x"];
        for text in same {
            assert_eq!(parse(text).fingerprint(), parse(same[0]).fingerprint(), "{text}");
        }
        for text in ["http://e.org/~a//", "https://e.org/~a/%2f", "http://e.org/~a/%2f?"] {
            assert_ne!(parse(text).fingerprint(), parse(same[0]).fingerprint(), "{text}");
        }
    }

    #[test]
    fn broken_escapes_stay_as_they_are() {
        assert_eq!(canonical_escapes("/%zz%4%"), "/%zz%4%");
        assert_eq!(canonical_escapes("/%c3%a9%é"), "/%C3%A9%é");
    }

    #[test]
    fn hosts_differ_by_scheme_and_port() {
        assert_eq!(parse("http://e.org:8080/x").host_key().as_str(), "http://e.org:8080");
        assert_eq!(parse("http://e.org:80/x").host_key().as_str(), "http://e.org");
        assert_ne!(parse("http://e.org/").host_key(), parse("https://e.org/").host_key());
        assert_eq!(parse("https://e.org/a/b?c#d").robots().as_str(), "https://e.org/robots.txt");
    }

    #[test]
    fn a_host_key_has_scheme_and_authority() {
        let key = parse(" https://[2001:DB8::1]:8443/a ").host_key();
        assert_eq!(key.scheme(), "https");
        assert_eq!(key.authority(), "[2001:db8::1]:8443");
        let start = CrawlUrl::of_host(key.scheme(), key.authority()).unwrap();
        assert_eq!(start.host_key(), key);
        assert_eq!(start.port(), 8443);
        assert_eq!(CrawlUrl::of_host("https", "example.org").unwrap().port(), 443);
    }
}
