//! Here is a URL from a seed or a package: may it be crawled, and whose host is it?

use protocol::limits;
use store::urls::NewUrl;
use url::Url;

/// Why a text is no URL for a crawler.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LinkError {
    /// Not a URL by the WHATWG rules.
    #[error("not an absolute URL: {0}")]
    Syntax(url::ParseError),
    /// Not http or https.
    #[error("only http and https are crawled, not {0}")]
    Scheme(String),
    /// Carries a user name or password.
    #[error("it carries credentials")]
    Credentials,
    /// Too long.
    #[error("longer than {max} bytes", max = limits::URL_BYTES)]
    TooLong,
}

/// The URL in WHATWG form without fragment, and its host; the same form that agents use.
pub fn take_apart(text: &str, redirects: u8) -> Result<NewUrl, LinkError> {
    if text.len() > 4 * limits::URL_BYTES {
        return Err(LinkError::TooLong);
    }
    let mut url = Url::parse(text.trim()).map_err(LinkError::Syntax)?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(LinkError::Scheme(url.scheme().chars().take(32).collect()));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(LinkError::Credentials);
    }
    url.set_fragment(None);
    if url.as_str().len() > limits::URL_BYTES {
        return Err(LinkError::TooLong);
    }
    let scheme = url.scheme().to_owned();
    let authority = url.authority().to_owned();
    Ok(NewUrl { scheme, authority, url: url.into(), redirects })
}

/// The host and port that an authority means under a scheme.
pub fn host_and_port(scheme: &str, authority: &str) -> Option<(url::Host<String>, u16)> {
    let url = Url::parse(&format!("{scheme}://{authority}/")).ok()?;
    Some((url.host()?.to_owned(), url.port_or_known_default()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_brought_into_form() {
        let link = take_apart(" HTTP://Example.ORG:80/a/../b?q#frag", 2).unwrap();
        assert_eq!(link.url, "http://example.org/b?q");
        assert_eq!((link.scheme.as_str(), link.authority.as_str()), ("http", "example.org"));
        assert_eq!(link.redirects, 2);
        assert_eq!(
            take_apart("https://[2001:DB8::1]:8443", 0).unwrap().authority,
            "[2001:db8::1]:8443"
        );
    }

    #[test]
    fn what_is_not_crawled_is_said() {
        assert_eq!(take_apart("ftp://example.org/", 0), Err(LinkError::Scheme("ftp".into())));
        assert_eq!(take_apart("http://u:p@example.org/", 0), Err(LinkError::Credentials));
        assert!(matches!(take_apart("/relative", 0), Err(LinkError::Syntax(_))));
        let long = format!("http://example.org/{}", "x".repeat(limits::URL_BYTES));
        assert_eq!(take_apart(&long, 0), Err(LinkError::TooLong));
    }

    #[test]
    fn an_authority_is_a_host_and_a_port() {
        let (host, port) = host_and_port("https", "example.org").unwrap();
        assert_eq!((host.to_string().as_str(), port), ("example.org", 443));
        assert_eq!(host_and_port("http", "[::1]:81").unwrap().1, 81);
    }
}
