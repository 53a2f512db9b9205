//! Which address does a request really come from?
//!
//! Behind a reverse proxy every connection comes from the proxy; it tells the other end in
//! `X-Forwarded-For`. Only proxies that the operator names are believed, since anybody can send
//! that header. The address matters: it is an agent's home, and what guessing passwords is counted
//! by.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::extract::{ConnectInfo, Request, State};
use axum::http::HeaderMap;
use axum::middleware::Next;
use axum::response::Response;
use ipnet::IpNet;

use crate::tasks::coordinator::Coordinator;

/// A layer that puts the real address in the place of a trusted proxy's.
pub async fn see_through_proxies(
    State(coordinator): State<Arc<Coordinator>>,
    mut request: Request,
    next: Next,
) -> Response {
    if let Some(ConnectInfo(peer)) = request.extensions().get::<ConnectInfo<SocketAddr>>() {
        let address = behind(peer.ip(), request.headers(), &coordinator.config.trusted_proxies);
        let seen = SocketAddr::new(address, peer.port());
        request.extensions_mut().insert(ConnectInfo(seen));
    }
    next.run(request).await
}

/// The last address on the way here that is not a trusted proxy's; the one before a proxy is that
/// proxy's word.
fn behind(peer: IpAddr, headers: &HeaderMap, trusted: &[IpNet]) -> IpAddr {
    let is_trusted = |address: &IpAddr| trusted.iter().any(|proxy| proxy.contains(address));
    let values = headers.get_all("x-forwarded-for").iter().filter_map(|value| value.to_str().ok());
    let hops: Vec<&str> = values.flat_map(|value| value.split(',')).map(str::trim).collect();
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
            headers.append("x-forwarded-for", HeaderValue::from_str(value).unwrap());
        }
        let trusted = ["127.0.0.1/32".parse().unwrap(), "10.0.0.0/8".parse().unwrap()];
        behind(peer.parse().unwrap(), &headers, &trusted).to_string()
    }

    #[test]
    fn a_stranger_is_not_believed() {
        assert_eq!(seen("198.51.100.7", &["203.0.113.9"]), "198.51.100.7");
    }

    #[test]
    fn trusted_proxies_are_seen_through_one_after_the_other() {
        assert_eq!(seen("127.0.0.1", &["203.0.113.9"]), "203.0.113.9");
        assert_eq!(seen("::ffff:127.0.0.1", &["203.0.113.9, 10.1.2.3"]), "203.0.113.9");
        assert_eq!(
            seen("127.0.0.1", &["192.0.2.1, 203.0.113.9"]),
            "203.0.113.9",
            "what the client made up is not"
        );
        assert_eq!(seen("127.0.0.1", &["203.0.113.9", "10.1.2.3"]), "203.0.113.9");
    }

    #[test]
    fn a_proxy_that_says_nothing_readable_is_itself() {
        assert_eq!(seen("127.0.0.1", &[]), "127.0.0.1");
        assert_eq!(seen("127.0.0.1", &["unknown"]), "127.0.0.1");
    }
}
