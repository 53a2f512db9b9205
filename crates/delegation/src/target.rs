//! Which address of a subnet a probe goes to.
//!
//! Many addresses answer nothing. The address that a URL was found at comes first, then its siblings, other known addresses
//! of the same subnet; when all were silent lately, the host's own web server is asked (HTTP HEAD), which answers
//! or is not worth crawling.

use std::collections::HashMap;
use std::net::IpAddr;

use protocol::UnixMillis;

/// What an agent shall probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// This address, by ICMP or TCP.
    Address(IpAddr),
    /// The web server at this address, by HTTP HEAD.
    Head(IpAddr),
}

/// Addresses that answered nobody, and since when.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Silence {
    addresses: HashMap<IpAddr, UnixMillis>,
}

/// An address is tried again after a week, in milliseconds.
pub const FORGIVEN_MS: u64 = 7 * 24 * 3_600_000;

impl Silence {
    /// The address answered nobody who asked.
    pub fn note(&mut self, address: IpAddr, at: UnixMillis) {
        self.addresses.insert(address, at);
    }

    /// The address answered.
    pub fn lift(&mut self, address: IpAddr) {
        self.addresses.remove(&address);
    }

    /// Whether it answered nobody lately.
    pub fn holds(&self, address: IpAddr, at: UnixMillis) -> bool {
        self.addresses.get(&address).is_some_and(|since| at.distance_ms(*since) < FORGIVEN_MS)
    }

    /// What to probe for the subnet of `host`, whose other known addresses are `siblings`.
    pub fn target(&self, host: IpAddr, siblings: &[IpAddr], at: UnixMillis) -> Target {
        let mut known = std::iter::once(&host).chain(siblings);
        known
            .find(|address| !self.holds(**address, at))
            .map_or(Target::Head(host), |address| Target::Address(*address))
    }
}
