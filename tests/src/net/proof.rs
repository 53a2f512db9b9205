//! Proof of isolation: in each namespace the kernel lists only the loopback interface and the TUN
//! device, and no route over anything else.

use std::fmt;
use std::fs;

use serde::Serialize;

use super::tun;
use super::{Namespace, NetError};

/// The findings of a successful inspection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Proof {
    /// Namespaces looked into.
    pub namespaces: usize,
    /// Routes read there.
    pub routes: usize,
}

impl fmt::Display for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { namespaces, routes } = self;
        write!(
            f,
            "isolated: each of {namespaces} namespaces has only lo and {}, all {routes} routes \
             stay on these two, and the router knows no address outside",
            tun::NAME
        )
    }
}

/// Inspects namespaces; fails at the first interface or route that leads elsewhere.
pub fn prove<'n>(namespaces: impl IntoIterator<Item = &'n Namespace>) -> Result<Proof, NetError> {
    let mut proof = Proof { namespaces: 0, routes: 0 };
    for namespace in namespaces {
        proof.routes += namespace.run(|| inspect(namespace.name()))??;
        proof.namespaces += 1;
    }
    Ok(proof)
}

/// Reads the lists of the namespace that the calling thread is in; the number of routes.
fn inspect(namespace: &str) -> Result<usize, NetError> {
    let stray = |what: &str, device: &str| NetError::NotIsolated {
        namespace: namespace.to_owned(),
        finding: format!("{what} {device}"),
    };
    let links = read(namespace, "/proc/thread-self/net/dev")?;
    let links =
        links.lines().skip(2).filter_map(|line| line.split_once(':')).map(|(name, _)| name.trim());
    if let Some(device) = links.into_iter().find(|name| !is_ours(name)) {
        return Err(stray("it has the interface", device));
    }
    let four = read(namespace, "/proc/thread-self/net/route")?;
    let four = four.lines().skip(1).filter_map(|line| line.split_whitespace().next());
    // A kernel without IPv6 has no such list.
    let six = read(namespace, "/proc/thread-self/net/ipv6_route").unwrap_or_default();
    let six = six.lines().filter_map(|line| line.split_whitespace().last());
    let devices: Vec<_> = four.chain(six).collect();
    match devices.iter().find(|device| !is_ours(device)) {
        Some(device) => Err(stray("it has a route over", device)),
        None => Ok(devices.len()),
    }
}

fn is_ours(device: &str) -> bool {
    device == "lo" || device == tun::NAME
}

fn read(namespace: &str, path: &'static str) -> Result<String, NetError> {
    fs::read_to_string(path).map_err(|source| NetError::Inspect {
        namespace: namespace.to_owned(),
        path,
        source,
    })
}
