//! Which address of a subnet a probe goes to.
//!
//! Many addresses answer nothing. The address that a URL was found at comes first, then its
//! siblings, other known addresses of the same subnet; when all were silent lately, the host's own
//! web server is asked (HTTP HEAD), which answers or is not worth crawling.

use std::collections::HashMap;
use std::net::IpAddr;

use protocol::UnixMillis;

use crate::{Asked, Verdict};

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

/// Agents without an answer that are enough to try another address, where there is one.
pub const SILENT: usize = 3;

/// Whether a search should go to another address of its subnet: several agents got no answer from
/// this one and nobody got one. Where there is no other address the search asks everybody.
pub fn is_silent(trail: &[Asked]) -> bool {
    let count =
        |wanted: fn(Verdict) -> bool| trail.iter().filter(|asked| wanted(asked.verdict)).count();
    let answered = count(|verdict| matches!(verdict, Verdict::Measured { .. }));
    answered == 0 && count(|verdict| verdict == Verdict::Unreachable) >= SILENT
}
