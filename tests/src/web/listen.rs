//! Sockets of the web: one for all hosts in the virtual internet, one for each host on loopback.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};

use super::plan::WebError;
use crate::net::Namespace;

/// How often a free port is looked for that every loopback address can have.
const ATTEMPTS: usize = 20;

/// Listens on every address of a namespace: the one node that is all hosts.
pub fn inside(namespace: &Namespace, port: u16) -> Result<Vec<TcpListener>, WebError> {
    let everywhere = SocketAddr::from((Ipv4Addr::UNSPECIFIED, port));
    let bound = namespace.run(|| bind(everywhere))?;
    Ok(vec![bound?])
}

/// Listens on loopback addresses, all on one port that is free on each. Never on all interfaces:
/// the machine's neighbours are not part of this internet.
pub fn on_loopback(
    addresses: impl IntoIterator<Item = IpAddr>,
) -> Result<(u16, Vec<TcpListener>), WebError> {
    let addresses: BTreeSet<_> = addresses.into_iter().collect();
    let mut refused = WebError::Plan("there is no host to listen for".to_owned());
    for _ in 0..ATTEMPTS {
        match on_one_port(&addresses) {
            Ok(listening) => return Ok(listening),
            Err(error) => refused = error,
        }
    }
    Err(refused)
}

fn on_one_port(addresses: &BTreeSet<IpAddr>) -> Result<(u16, Vec<TcpListener>), WebError> {
    let mut port = 0;
    let mut listeners = Vec::with_capacity(addresses.len());
    for address in addresses {
        if !address.is_loopback() {
            return Err(WebError::Plan(format!("{address} is not a loopback address")));
        }
        let listener = bind(SocketAddr::new(*address, port))?;
        let wanted = SocketAddr::new(*address, port);
        port = listener
            .local_addr()
            .map_err(|source| WebError::Listen { address: wanted, source })?
            .port();
        listeners.push(listener);
    }
    Ok((port, listeners))
}

fn bind(address: SocketAddr) -> Result<TcpListener, WebError> {
    let listen = || {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        Ok(listener)
    };
    listen().map_err(|source| WebError::Listen { address, source })
}
