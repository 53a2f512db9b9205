//! Target of HEAD probes: the host that an order names, parsed strictly, so that an order cannot
//! slip a path or a user name into a request.

use std::net::{IpAddr, SocketAddr};

use model::CrawlUrl;
use url::Host;

/// Most characters of a refused text that are shown.
const SHOWN_CHARS: usize = 100;

/// The order's text is not the name of a host at its address and port.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("the order's host {0:?} is not a host key that fits its address and port")]
pub(super) struct NotAHost(String);

/// The start page of the host in an order; without a name, of the address itself. `host` is the
/// authority of a host key, such as `a.example` or `a.example:8080`.
pub(super) fn start_page(host: &str, address: IpAddr, port: u16) -> Result<CrawlUrl, NotAHost> {
    let refuse = || NotAHost(host.chars().take(SHOWN_CHARS).collect());
    if host.is_empty() {
        let scheme = if port == 443 { "https" } else { "http" };
        let authority = SocketAddr::new(address, port).to_string();
        return CrawlUrl::of_host(scheme, &authority).map_err(|_| refuse());
    }
    // The port tells the scheme, because a default port is left out.
    let pages = ["http", "https"].map(|scheme| CrawlUrl::of_host(scheme, host));
    let fits = |url: &CrawlUrl| {
        let at_address = match url.host() {
            Some(Host::Ipv4(literal)) => address == IpAddr::V4(literal),
            Some(Host::Ipv6(literal)) => address == IpAddr::V6(literal).to_canonical(),
            Some(Host::Domain(_)) => true,
            None => false,
        };
        let is_key = url.host_key().authority() == host && url.path_and_query() == "/";
        is_key && at_address && url.port() == port
    };
    pages.into_iter().flatten().find(fits).ok_or_else(refuse)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADDRESS: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1));

    #[test]
    fn a_host_key_leads_to_its_start_page() {
        for (host, port, url) in [
            ("a.example", 80, "http://a.example/"),
            ("a.example", 443, "https://a.example/"),
            ("a.example:8080", 8080, "http://a.example:8080/"),
            ("a.example:443", 443, "http://a.example:443/"),
            ("a.example:80", 80, "https://a.example:80/"),
            ("192.0.2.1", 80, "http://192.0.2.1/"),
            ("", 80, "http://192.0.2.1/"),
            ("", 443, "https://192.0.2.1/"),
        ] {
            assert_eq!(start_page(host, ADDRESS, port).unwrap().as_str(), url, "{host:?}");
        }
        let six: IpAddr = "2001:db8::1".parse().unwrap();
        let page = start_page("[2001:db8::1]:8080", six, 8080).unwrap();
        assert_eq!(page.as_str(), "http://[2001:db8::1]:8080/");
    }

    #[test]
    fn anything_else_is_refused() {
        for host in [
            "a.example/secret",
            "a.example/?q",
            "a.example?q",
            "a.example#x",
            r"a.example\x",
            "user@a.example",
            "user:pass@a.example",
            "A.example",
            " a.example",
            "a.example ",
            "a.exa\tmple",
            "a.example:8080",
            "a.example:",
            "b.example/@a.example",
            "192.0.2.2",
            "0xc0.0.2.1",
            "/",
        ] {
            assert!(start_page(host, ADDRESS, 80).is_err(), "{host:?}");
        }
    }
}
