//! Virtual subnets: pieces of a block whose addresses are in different locations.
//!
//! Addresses of a large block whose times differ by more than access lines do are in different
//! locations. The block is split where neighbouring measured addresses disagree.

use std::net::IpAddr;

use hierarchy::Range;
use model::AgentId;

/// Round trips to one address, in milliseconds.
#[derive(Debug, Clone, PartialEq)]
pub struct AddressTimes {
    /// The address.
    pub address: IpAddr,
    /// Who measured it.
    pub times_ms: Vec<(AgentId, f64)>,
}

/// Differences that access lines explain: of two agents' views of the same two addresses, in
/// milliseconds and as a share of the larger time.
const SLACK_MS: f64 = 15.0;
const SLACK_SHARE: f64 = 0.3;
/// The same where a single agent measured both.
const ALONE_MS: f64 = 60.0;

/// Whether two addresses may be in one cluster, as far as common agents tell. AccessTime lines add the
/// same from detect_anycast, so with two or more common agents only the difference of the differences
/// counts.
pub fn may_be_one_location(a: &AddressTimes, b: &AddressTimes) -> bool {
    let time = |sighting: &AddressTimes, agent| {
        sighting.times_ms.iter().find(|(other, _)| *other == agent).map(|(_, time_ms)| *time_ms)
    };
    let mut common = a.times_ms.iter().filter_map(|(agent, a_ms)| Some((*a_ms, time(b, *agent)?)));
    let Some(first) = common.next() else { return true };
    let (mut least, mut most, mut largest, mut alone) =
        (first.0 - first.1, first.0 - first.1, first.0.max(first.1), true);
    for (a_ms, b_ms) in common {
        (least, most) = (least.min(a_ms - b_ms), most.max(a_ms - b_ms));
        (largest, alone) = (largest.max(a_ms).max(b_ms), false);
    }
    let slack = SLACK_MS + SLACK_SHARE * largest;
    if alone { least.abs() <= ALONE_MS + slack } else { most - least <= slack }
}

/// Virtual subnets are cut at multiples of this many addresses: a /22.
const V4_GRAIN: u128 = 1 << 10;
/// In IPv6, a /48.
const V6_GRAIN: u128 = 1 << 80;

fn grain(range: &Range) -> u128 {
    if range.is_v4() { V4_GRAIN } else { V6_GRAIN }
}

/// Whether a range is large enough for [`cut`].
pub fn can_be_split(range: &Range) -> bool {
    range.addresses() > grain(range)
}

/// Cuts `range` between neighbouring sightings that cannot be in one cluster, half way, at the
/// boundary of a /22 (in IPv6, a /48). The pieces cover the range in order; one piece where nothing
/// disagrees or the range is too small to cut.
pub fn split(range: Range, sightings: &[AddressTimes]) -> Vec<Range> {
    let grain = grain(&range);
    let mut inside: Vec<&AddressTimes> =
        sightings.iter().filter(|sighting| range.contains(sighting.address)).collect();
    inside.sort_by_key(|sighting| bits(sighting.address));
    let mut pieces = Vec::new();
    let (mut first, last) = (bits(range.first()), bits(range.last()));
    for pair in inside.windows(2) {
        let (low, high) = (bits(pair[0].address), bits(pair[1].address));
        let boundary = (low + (high - low) / 2 + 1).next_multiple_of(grain);
        let boundary = if boundary > high { high - high % grain } else { boundary };
        if boundary > low && boundary > first && !may_be_one_location(pair[0], pair[1]) {
            pieces.extend(piece(&range, first, boundary - 1));
            first = boundary;
        }
    }
    pieces.extend(piece(&range, first, last));
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
