//! Status and headers that the crawler uses.

use std::time::Duration;

use data_encoding::HEXUPPER;
use hyper::{HeaderMap, Response, header};
use jiff::Timestamp;

use crate::extract::directives::Directives;

/// The head of an answer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Head {
    /// HTTP status of the answer.
    pub status: u16,
    /// Media type without parameters, lower case.
    pub media_type: Option<String>,
    /// The charset parameter of the media type.
    pub charset: Option<String>,
    /// Location header, as it was written.
    pub location: Option<String>,
    /// Directives of the X-Robots-Tag headers.
    pub directives: Directives,
    /// Content encodings in the order in which they were applied, lower case; none for identity.
    pub encoding: Option<String>,
    /// Retry-After header, as it was written.
    pub retry: Option<String>,
    /// Validators for a later conditional request.
    pub validators: Validators,
}

/// Validators of a page (RFC 9110 section 8.8).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Validators {
    /// ETag header, as it was written.
    pub etag: Option<String>,
    /// Last-Modified header, as it was written.
    pub last_modified: Option<String>,
}

/// Longest validator that is kept, in bytes.
const VALIDATOR_BYTES: usize = 256;

impl Validators {
    /// Those of these texts that can be sent to a server.
    pub fn of_texts(etag: Option<String>, last_modified: Option<String>) -> Self {
        let sendable = |text: Option<String>| text.filter(|text| is_validator(text));
        Self { etag: sendable(etag), last_modified: sendable(last_modified) }
    }
}

impl Head {
    pub(crate) fn of<B>(response: &Response<B>) -> Self {
        let headers = response.headers();
        let content_type = text(headers, header::CONTENT_TYPE);
        let mut directives = Directives::default();
        for value in headers.get_all("x-robots-tag") {
            directives.add_header(&String::from_utf8_lossy(value.as_bytes()));
        }
        let encodings = headers.get_all(header::CONTENT_ENCODING).iter();
        let encodings: Vec<String> = encodings
            .map(|value| String::from_utf8_lossy(value.as_bytes()).trim().to_ascii_lowercase())
            .filter(|encoding| !encoding.is_empty() && encoding != "identity")
            .collect();
        Self {
            status: response.status().as_u16(),
            media_type: content_type.as_deref().and_then(media_type),
            charset: content_type.as_deref().and_then(charset),
            location: headers.get(header::LOCATION).map(|value| escaped(value.as_bytes())),
            directives,
            encoding: (!encodings.is_empty()).then(|| encodings.join(",")),
            retry: text(headers, header::RETRY_AFTER),
            validators: Validators::of_texts(
                validator(headers, header::ETAG),
                validator(headers, header::LAST_MODIFIED),
            ),
        }
    }

    /// Whether the answer redirects to another URL.
    pub fn is_redirect(&self) -> bool {
        matches!(self.status, 301 | 302 | 303 | 307 | 308) && self.location.is_some()
    }

    /// Pause that Retry-After demands (RFC 9110 section 10.2.3).
    pub fn retry_after(&self, now: Timestamp) -> Option<Duration> {
        let value = self.retry.as_deref()?.trim();
        if let Ok(seconds) = value.parse() {
            return Some(Duration::from_secs(seconds));
        }
        let at = jiff::fmt::rfc2822::parse(value).ok()?.timestamp();
        Some(Duration::try_from(at.duration_since(now)).unwrap_or(Duration::ZERO))
    }
}

fn text(headers: &HeaderMap, name: header::HeaderName) -> Option<String> {
    headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
}

/// The text of a URL in a header. Where it is not UTF-8, its bytes are those of the server's
/// encoding, which the server expects back as they are.
fn escaped(value: &[u8]) -> String {
    if let Ok(text) = str::from_utf8(value) {
        return text.to_owned();
    }
    let mut text = String::with_capacity(2 * value.len());
    for byte in value {
        if byte.is_ascii() {
            text.push(char::from(*byte));
        } else {
            text.push('%');
            text.push_str(&HEXUPPER.encode(&[*byte]));
        }
    }
    text
}

fn validator(headers: &HeaderMap, name: header::HeaderName) -> Option<String> {
    headers.get(name)?.to_str().ok().map(ToOwned::to_owned)
}

/// Whether a text can be the value of a header: printable and of bounded length.
fn is_validator(text: &str) -> bool {
    let is_printable = |byte: u8| byte == b'\t' || byte == b' ' || byte.is_ascii_graphic();
    !text.is_empty() && text.len() <= VALIDATOR_BYTES && text.bytes().all(is_printable)
}

/// The media type of a Content-Type, without parameters. Servers forget the semicolon, and proxies
/// add a second type; browsers take the first one of both.
pub(crate) fn media_type(content_type: &str) -> Option<String> {
    let essence = split_type(content_type).0.to_ascii_lowercase();
    let plausible = essence.len() <= 100
        && essence.contains('/')
        && essence.bytes().all(|b| b.is_ascii_graphic());
    plausible.then_some(essence)
}

/// The charset parameter of a Content-Type.
pub(crate) fn charset(content_type: &str) -> Option<String> {
    split_type(content_type).1.split([';', ',']).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        let value = value.trim().trim_matches(['"', '\'']);
        name.trim().eq_ignore_ascii_case("charset").then(|| value.to_owned())
    })
}

/// The first type of a Content-Type, and what follows it.
fn split_type(content_type: &str) -> (&str, &str) {
    let text = content_type.trim_ascii_start();
    let ends = |c: char| matches!(c, ';' | ',') || c.is_ascii_whitespace();
    text.split_at(text.find(ends).unwrap_or(text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(headers: &[(&str, &str)]) -> Head {
        let mut response = Response::builder().status(200);
        for (name, value) in headers {
            response = response.header(*name, *value);
        }
        Head::of(&response.body(()).unwrap())
    }

    #[test]
    fn media_types_are_split_into_their_parts() {
        let of = |value: &str| {
            let head = head(&[("content-type", value)]);
            (head.media_type, head.charset)
        };
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(of("Text/HTML; charset=\"UTF-8\""), (some("text/html"), some("UTF-8")));
        assert_eq!(of("text/html;a=b; CharSet = koi8-r"), (some("text/html"), some("koi8-r")));
        let html = || (some("text/html"), some("utf-8"));
        assert_eq!(of("text/html charset=utf-8"), html());
        assert_eq!(of(" text/html ; charset=utf-8"), html());
        assert_eq!(of("text/html,text/html; charset=utf-8"), html());
        assert_eq!(of("text/html, charset=utf-8"), html());
        assert_eq!(of("nonsense"), (None, None));
        assert_eq!(head(&[]).media_type, None);
    }

    #[test]
    fn bytes_of_a_location_are_kept() {
        let of = |value: &[u8]| {
            let value = header::HeaderValue::from_bytes(value).unwrap();
            Head::of(&Response::builder().header("location", value).body(()).unwrap()).location
        };
        assert_eq!(of(b"/caf\xe9?x=%41").as_deref(), Some("/caf%E9?x=%41"));
        assert_eq!(of("/café".as_bytes()).as_deref(), Some("/café"));
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let now: Timestamp = "2026-11-20T12:00:00Z".parse().unwrap();
        let of = |value: &str| head(&[("retry-after", value)]).retry_after(now);
        assert_eq!(of("120"), Some(Duration::from_secs(120)));
        assert_eq!(of("Fri, 20 Nov 2026 12:01:00 GMT"), Some(Duration::from_secs(60)));
        assert_eq!(of("Fri, 20 Nov 2020 12:01:00 GMT"), Some(Duration::ZERO));
        assert_eq!(of("soon"), None);
    }

    #[test]
    fn robots_tags_of_all_header_lines_count() {
        let head = head(&[("x-robots-tag", "noindex"), ("X-Robots-Tag", "nearcrawl: nofollow")]);
        assert_eq!(
            head.directives,
            Directives { noindex: true, nofollow: true, ..Directives::default() }
        );
    }

    #[test]
    fn validators_are_printable_and_short() {
        let long = "x".repeat(VALIDATOR_BYTES + 1);
        let head = head(&[("etag", &long), ("last-modified", "Fri, 20 Nov 2026 12:01:00 GMT")]);
        assert_eq!(head.validators.etag, None);
        assert!(head.validators.last_modified.is_some());
        for text in ["", "\"a\n\"", "\"\u{7f}\"", "\"é\"", &long] {
            let validators = Validators::of_texts(Some(text.into()), Some(text.into()));
            assert_eq!(validators, Validators::default(), "{text:?}");
        }
        assert!(Validators::of_texts(Some("W/\"a b\"".into()), None).etag.is_some());
    }

    #[test]
    fn identity_is_no_encoding() {
        assert_eq!(head(&[("content-encoding", "Identity")]).encoding, None);
        assert_eq!(head(&[("content-encoding", " GZip ")]).encoding.as_deref(), Some("gzip"));
        let two = head(&[("content-encoding", "br"), ("content-encoding", "gzip")]);
        assert_eq!(two.encoding.as_deref(), Some("br,gzip"));
    }
}
