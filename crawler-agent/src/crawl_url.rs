//! Here is a link: may it be crawled, whose host is it, and have we seen it before?
//!
//! A [`CrawlUrl`] is an absolute http or https URL in WHATWG form, without fragment and
//! credentials, of at most [`protocol::limits::URL_BYTES`] bytes. It is sent and reported in that
//! form. Two spellings that RFC 3986 section 6.2.2 calls equivalent have the same [`Fingerprint`],
//! so that a page is fetched once.

use std::{borrow::Cow, fmt};

use sha2::{Digest as _, Sha256};
use url::{Host, Position, Url};

/// Path segments that may be equal before the URL is taken for a trap (`/a/a/a/a/a/a/…`).
const SAME_SEGMENTS: usize = 6;

/// Why a text is no URL for a crawler.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    /// Not a URL by the WHATWG rules.
    #[error("not a URL")]
    Syntax(#[source] url::ParseError),
    /// Not http or https.
    #[error("scheme {0:?} is not crawled")]
    Scheme(String),
    /// Carries a user name or password.
    #[error("carries credentials")]
    Credentials,
    /// Longer than [`protocol::limits::URL_BYTES`].
    #[error("longer than {max} bytes", max = protocol::limits::URL_BYTES)]
    TooLong,
    /// Repeats a path segment so often that it must be a loop.
    #[error("repeats a path segment, as endless sites do")]
    Trap,
}

/// Names a URL in the frontier: the first 16 bytes of the SHA-256 of its canonical spelling.
pub type Fingerprint = [u8; 16];

/// A URL that may be crawled.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CrawlUrl(Url);

impl CrawlUrl {
    /// The URL in `text`, which must be absolute.
    pub fn parse(text: &str) -> Result<Self, UrlError> {
        if text.len() > 4 * protocol::limits::URL_BYTES {
            return Err(UrlError::TooLong);
        }
        Self::new(Url::parse(text).map_err(UrlError::Syntax)?)
    }

    /// The URL that a link with this `reference` leads to from a document whose base is `base`.
    pub fn join(base: &Url, reference: &str) -> Result<Self, UrlError> {
        if reference.len() > 4 * protocol::limits::URL_BYTES {
            return Err(UrlError::TooLong);
        }
        Self::new(base.join(reference).map_err(UrlError::Syntax)?)
    }

    /// Brings `url` into form.
    pub fn new(mut url: Url) -> Result<Self, UrlError> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(UrlError::Scheme(url.scheme().chars().take(32).collect()));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(UrlError::Credentials);
        }
        url.set_fragment(None);
        if url.as_str().len() > protocol::limits::URL_BYTES {
            return Err(UrlError::TooLong);
        }
        if is_trap(&url) { Err(UrlError::Trap) } else { Ok(Self(url)) }
    }

    /// The whole URL.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// As the `url` crate knows it.
    pub fn url(&self) -> &Url {
        &self.0
    }

    /// Scheme and authority, the unit of politeness: `https://example.org:8443`.
    pub fn host_key(&self) -> String {
        self.0.origin().ascii_serialization()
    }

    /// Name or address of the host. None never happens for http and https; the type of `url` can't
    /// say so.
    pub fn host(&self) -> Option<Host<&str>> {
        self.0.host()
    }

    /// TCP port, given or by scheme.
    pub fn port(&self) -> u16 {
        self.0.port_or_known_default().unwrap_or(0)
    }

    /// Path and query, as they go into the request line and are matched against robots.txt.
    pub fn path_and_query(&self) -> &str {
        &self.0[Position::BeforePath..Position::AfterQuery]
    }

    /// Whether TLS is wanted.
    pub fn is_https(&self) -> bool {
        self.0.scheme() == "https"
    }

    /// Where the robots.txt of this URL's host is.
    #[must_use]
    pub fn robots(&self) -> Self {
        let mut url = self.0.clone();
        url.set_path("/robots.txt");
        url.set_query(None);
        Self(url)
    }

    /// What the frontier remembers of the URL.
    pub fn fingerprint(&self) -> Fingerprint {
        let digest: [u8; 32] = Sha256::digest(canonical_escapes(self.as_str()).as_bytes()).into();
        let mut short = Fingerprint::default();
        short.copy_from_slice(&digest[..16]);
        short
    }
}

impl fmt::Display for CrawlUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// `text` with escapes in upper case, and without escapes of characters that need none (RFC 3986
/// section 6.2.2).
pub fn canonical_escapes(text: &str) -> Cow<'_, str> {
    if !text.contains('%') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('%') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
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

fn is_trap(url: &Url) -> bool {
    let segments: Vec<&str> = url.path().split('/').filter(|s| !s.is_empty()).collect();
    segments.len() > SAME_SEGMENTS
        && segments
            .iter()
            .any(|s| segments.iter().filter(|other| *other == s).count() > SAME_SEGMENTS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> CrawlUrl {
        CrawlUrl::parse(text).unwrap()
    }

    #[test]
    fn a_url_is_brought_into_form() {
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
    fn what_a_crawler_must_not_ask_for_is_refused() {
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
        assert_eq!(
            CrawlUrl::parse("http://example.org/a/b/a/b/a/b/a/b/a/b/a/b/a"),
            Err(UrlError::Trap)
        );
        assert!(CrawlUrl::parse("http://example.org/2026/11/20/a/b/c/d").is_ok());
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
    fn hosts_are_told_apart_by_scheme_and_port() {
        assert_eq!(parse("http://e.org:8080/x").host_key(), "http://e.org:8080");
        assert_eq!(parse("http://e.org:80/x").host_key(), "http://e.org");
        assert_ne!(parse("http://e.org/").host_key(), parse("https://e.org/").host_key());
        assert_eq!(parse("https://e.org/a/b?c#d").robots().as_str(), "https://e.org/robots.txt");
    }
}
