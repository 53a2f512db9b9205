//! Target address of a delegation search: which address of the subnet the agents probe.
//!
//! Many addresses answer no probe. A search begins with the address at which a URL of the subnet
//! was found; when that one is silent, it goes on with another known address of the subnet.

use std::net::IpAddr;

use model::UnixMillis;

use crate::{ProbeOutcome, TrailProbe};

/// Milliseconds after which a silent address is probed again: a week.
pub const RETRY_AFTER_MS: u64 = 7 * 24 * 3_600_000;

/// Agents without an answer that make a search give up an address.
pub const SILENT_AGENTS: usize = 3;

/// Silent addresses that make a search give up the subnet.
const SILENT_ADDRESSES: usize = 3;

/// A known address of a subnet, with the time since when no agent got an answer from it.
pub type KnownAddress = (IpAddr, Option<UnixMillis>);

/// Whether a search should go to another address of its subnet: several agents got no answer from
/// this one and no agent got one. Where there is no other address, the search asks all agents.
pub fn is_silent(trail: &[TrailProbe]) -> bool {
    let is_measured = |probe: &TrailProbe| matches!(probe.outcome, ProbeOutcome::Measured { .. });
    let is_unreachable = |probe: &&TrailProbe| probe.outcome == ProbeOutcome::Unreachable;
    !trail.iter().any(is_measured) && trail.iter().filter(is_unreachable).count() >= SILENT_AGENTS
}

/// The first of `addresses` that has not been silent lately; `None` where all have been, or so many
/// that the subnet counts as silent.
pub fn next_address(addresses: &[KnownAddress], now: UnixMillis) -> Option<IpAddr> {
    let is_silent = |(_, since): &&KnownAddress| {
        since.is_some_and(|since| now.distance_ms(since) < RETRY_AFTER_MS)
    };
    if addresses.iter().filter(is_silent).count() >= SILENT_ADDRESSES {
        return None;
    }
    addresses.iter().find(|address| !is_silent(address)).map(|(address, _)| *address)
}
