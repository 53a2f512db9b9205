//! Subnets that the model of one place does not fit.
//!
//! *Everywhere.* An anycast or CDN block answers near every agent. Of one place that cannot be: the
//! way from agent to agent over the subnet is never much shorter than the way between them. How far
//! agents are apart at least, the landmarks say: as far as their times to any one landmark differ.
//!
//! *Not one place.* Addresses of a large block whose times differ by more than access lines do are
//! in different places. The block is cut where neighbours disagree.
//!
//! A subnet that is where no landmark is needs no sign of its own: [`super::Belief`] says how
//! likely that is.

use std::net::IpAddr;

use hierarchy::Range;
use protocol::AgentId;

use super::Places;

/// Round trips to one address, in milliseconds.
#[derive(Debug, Clone, PartialEq)]
pub struct Sighting {
    /// The address.
    pub address: IpAddr,
    /// Who measured it.
    pub times_ms: Vec<(AgentId, f64)>,
}

/// The way over the subnet must be this much shorter than the way between the agents: routes make
/// detours.
const SHORTCUT: f64 = 0.6;
/// Agents closer to each other than this prove nothing, in milliseconds.
const APART_MS: f64 = 40.0;
/// So many places must show that two agents are apart: one landmark may be odd.
const PLACES: usize = 3;

/// Two agents that are both too near to a subnet for it to be one place. Such a subnet is near to
/// many: any of them may crawl it, which makes it free mass for balancing.
pub fn everywhere(places: &Places, times_ms: &[(AgentId, f64)]) -> Option<(AgentId, AgentId)> {
    let pairs = times_ms
        .iter()
        .enumerate()
        .flat_map(|(n, a)| times_ms[n + 1..].iter().map(move |b| (a, b)));
    let mut witnesses = pairs.filter(|((a, a_ms), (b, b_ms))| {
        let apart_ms = apart_ms(places, *a, *b);
        apart_ms >= APART_MS && a_ms + b_ms < SHORTCUT * apart_ms
    });
    witnesses.next().map(|((a, _), (b, _))| (*a, *b))
}

/// How far two agents are apart at least.
fn apart_ms(places: &Places, a: AgentId, b: AgentId) -> f64 {
    let differences = (0..places.len())
        .filter_map(|place| Some((places.time_ms(place, a)? - places.time_ms(place, b)?).abs()));
    let mut differences: Vec<f64> = differences.collect();
    differences.sort_by(|a, b| b.total_cmp(a));
    differences.get(PLACES - 1).copied().unwrap_or(0.0)
}

/// Differences that access lines explain: of two agents' views of the same two addresses, in
/// milliseconds and as a share of the larger time.
const SLACK_MS: f64 = 15.0;
const SLACK_SHARE: f64 = 0.3;
/// The same where a single agent measured both.
const ALONE_MS: f64 = 60.0;

/// Whether two addresses may be in one place, as far as common agents tell. Access lines add the
/// same from everywhere, so with two or more common agents only the difference of the differences
/// counts.
pub fn may_be_one_place(a: &Sighting, b: &Sighting) -> bool {
    let time = |sighting: &Sighting, agent| {
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
pub fn can_be_cut(range: &Range) -> bool {
    range.addresses() > grain(range)
}

/// Cuts `range` between neighbouring sightings that cannot be in one place, half way, at the
/// boundary of a /22 (in IPv6, a /48). The pieces cover the range in order; one piece where nothing
/// disagrees or the range is too small to cut.
pub fn cut(range: Range, sightings: &[Sighting]) -> Vec<Range> {
    let grain = grain(&range);
    let mut inside: Vec<&Sighting> =
        sightings.iter().filter(|sighting| range.contains(sighting.address)).collect();
    inside.sort_by_key(|sighting| bits(sighting.address));
    let mut pieces = Vec::new();
    let (mut first, last) = (bits(range.first()), bits(range.last()));
    for pair in inside.windows(2) {
        let (low, high) = (bits(pair[0].address), bits(pair[1].address));
        let boundary = (low + (high - low) / 2 + 1).next_multiple_of(grain);
        let boundary = if boundary > high { high - high % grain } else { boundary };
        if boundary > low && boundary > first && !may_be_one_place(pair[0], pair[1]) {
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
