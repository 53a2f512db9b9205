//! Virtual subnets: pieces of a block whose addresses are in different locations.
//!
//! Addresses of a large block whose times differ by more than access lines explain are in different
//! locations. The block is split where neighbouring measured addresses disagree.

use std::net::IpAddr;

use hierarchy::Range;
use model::AgentId;

/// Round trips to one address.
#[derive(Debug, Clone, PartialEq)]
pub struct AddressTimes {
    /// The measured address.
    pub address: IpAddr,
    /// Milliseconds by agent.
    pub times_ms: Vec<(AgentId, f64)>,
}

/// Differences that access lines explain, for two common agents or more: milliseconds, and a share
/// of the largest time.
const SLACK_MS: f64 = 15.0;
const SLACK_SHARE: f64 = 0.3;
/// Further milliseconds that access lines explain where a single agent measured both addresses.
const SINGLE_AGENT_MS: f64 = 60.0;

/// Whether two addresses may be in one location, as far as common agents tell. Access lines add the
/// same from every agent, so with two or more common agents only the spread of the differences
/// counts.
pub fn may_be_one_location(a: &AddressTimes, b: &AddressTimes) -> bool {
    let time = |agent| b.times_ms.iter().find(|(other, _)| *other == agent).map(|(_, ms)| *ms);
    let mut agents = 0;
    let mut least = f64::INFINITY;
    let mut most = f64::NEG_INFINITY;
    let mut largest: f64 = 0.0;
    for (agent, a_ms) in &a.times_ms {
        let Some(b_ms) = time(*agent) else { continue };
        agents += 1;
        least = least.min(a_ms - b_ms);
        most = most.max(a_ms - b_ms);
        largest = largest.max(*a_ms).max(b_ms);
    }
    let slack = SLACK_MS + SLACK_SHARE * largest;
    match agents {
        0 => true,
        1 => least.abs() <= SINGLE_AGENT_MS + slack,
        _ => most - least <= slack,
    }
}

/// Virtual subnets begin at multiples of this many addresses: a /22.
const V4_GRANULARITY: u128 = 1 << 10;
/// The same in IPv6: a /48.
const V6_GRANULARITY: u128 = 1 << 80;

fn granularity(range: &Range) -> u128 {
    if range.is_v4() { V4_GRANULARITY } else { V6_GRANULARITY }
}

/// Whether a range is large enough for [`split`].
pub fn can_be_split(range: &Range) -> bool {
    range.addresses() > granularity(range)
}

/// Splits `range` between neighbouring addresses that cannot be in one location, half way, at the
/// boundary of a /22 (in IPv6, a /48). The pieces cover the range in order; one piece where no
/// addresses disagree or the range is too small to split.
pub fn split(range: Range, measured: &[AddressTimes]) -> Vec<Range> {
    let granularity = granularity(&range);
    let mut inside: Vec<&AddressTimes> =
        measured.iter().filter(|times| range.contains(times.address)).collect();
    inside.sort_by_key(|times| bits(times.address));
    let mut pieces = Vec::new();
    let mut first = bits(range.first());
    for pair in inside.windows(2) {
        let low = bits(pair[0].address);
        let high = bits(pair[1].address);
        let middle = (low + (high - low) / 2 + 1).next_multiple_of(granularity);
        // The boundary after the middle may be beyond the second address. Then the boundary before
        // that address may still separate the two.
        let boundary = if middle > high { high - high % granularity } else { middle };
        if boundary > low && boundary > first && !may_be_one_location(pair[0], pair[1]) {
            pieces.extend(piece(&range, first, boundary - 1));
            first = boundary;
        }
    }
    pieces.extend(piece(&range, first, bits(range.last())));
    pieces
}

fn bits(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => u128::from(address.to_bits()),
        IpAddr::V6(address) => address.to_bits(),
    }
}

fn piece(whole: &Range, first: u128, last: u128) -> Option<Range> {
    let address = |bits: u128| -> Option<IpAddr> {
        if whole.is_v4() {
            Some(std::net::Ipv4Addr::from_bits(u32::try_from(bits).ok()?).into())
        } else {
            Some(std::net::Ipv6Addr::from_bits(bits).into())
        }
    };
    Range::new(address(first)?, address(last)?).ok()
}
