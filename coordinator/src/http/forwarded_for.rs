//! Client address of a request behind reverse proxies.
//!
//! Behind a proxy every connection comes from the proxy, which names the client in
//! `X-Forwarded-For`. Any client can send that header, so only proxies that the operator configured
//! are trusted. The address is an agent's home, and failed sign-ins are counted by it.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::extract::{ConnectInfo, Request, State};
use axum::http::HeaderMap;
use axum::middleware::Next;
use axum::response::Response;
use ipnet::IpNet;

use crate::tasks::coordinator::Coordinator;

/// Layer that replaces the address of a trusted proxy by the client's.
pub async fn resolve_client_address(
    State(coordinator): State<Arc<Coordinator>>,
    mut request: Request,
    next: Next,
) -> Response {
    if let Some(ConnectInfo(peer)) = request.extensions().get::<ConnectInfo<SocketAddr>>() {
        let address =
            client_address(peer.ip(), request.headers(), &coordinator.config.trusted_proxies);
        let client = SocketAddr::new(address, peer.port());
        request.extensions_mut().insert(ConnectInfo(client));
    }
    next.run(request).await
}

/// The last address on the path to this server that is not a trusted proxy's. Each proxy appends
/// the address that connected to it, so the list is read from its end, and an entry counts only
/// while the address after it is trusted.
fn client_address(peer: IpAddr, headers: &HeaderMap, trusted: &[IpNet]) -> IpAddr {
    let is_trusted = |address: &IpAddr| trusted.iter().any(|proxy| proxy.contains(address));
    // A proxy appends its entry to what the client sent, which may be any bytes.
    let texts: Vec<_> = headers
        .get_all("x-forwarded-for")
        .iter()
        .map(|value| String::from_utf8_lossy(value.as_bytes()))
        .collect();
    let hops: Vec<&str> = texts.iter().flat_map(|text| text.split(',')).map(str::trim).collect();
    let mut address = peer.to_canonical();
    for hop in hops.iter().rev() {
        if !is_trusted(&address) {
            break;
        }
        match hop.parse::<IpAddr>() {
            Ok(before) => address = before.to_canonical(),
            Err(_) => break,
        }
    }
    address
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn seen(peer: &str, forwarded: &[&str]) -> String {
        let mut headers = HeaderMap::new();
        for value in forwarded {
            headers.append("x-forwarded-for", HeaderValue::from_bytes(value.as_bytes()).unwrap());
        }
        let trusted = ["127.0.0.1/32".parse().unwrap(), "10.0.0.0/8".parse().unwrap()];
        client_address(peer.parse().unwrap(), &headers, &trusted).to_string()
    }

    #[test]
    fn an_untrusted_peer_cannot_forward() {
        assert_eq!(seen("198.51.100.7", &["203.0.113.9"]), "198.51.100.7");
    }

    #[test]
    fn a_chain_of_trusted_proxies_is_resolved() {
        assert_eq!(seen("127.0.0.1", &["203.0.113.9"]), "203.0.113.9");
        assert_eq!(seen("::ffff:127.0.0.1", &["203.0.113.9, 10.1.2.3"]), "203.0.113.9");
        assert_eq!(
            seen("127.0.0.1", &["192.0.2.1, 203.0.113.9"]),
            "203.0.113.9",
            "the client's own entry does not count"
        );
        assert_eq!(seen("127.0.0.1", &["203.0.113.9", "10.1.2.3"]), "203.0.113.9");
        assert_eq!(seen("127.0.0.1", &["é, 203.0.113.9"]), "203.0.113.9");
    }

    #[test]
    fn a_proxy_with_an_unreadable_header_is_the_client() {
        assert_eq!(seen("127.0.0.1", &[]), "127.0.0.1");
        assert_eq!(seen("127.0.0.1", &["unknown"]), "127.0.0.1");
    }
}
