//! Ranges as a registry assigns them: allocations side by side, assignments inside.

use std::net::Ipv4Addr;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// Addresses of an allocation: a /20.
const ALLOCATION: u32 = 4096;

/// Ranges of an allocation, itself included, at least.
const FEWEST: u32 = 8;

/// How many objects a dump has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    pub nets: u32,
    pub organisations: u32,
    /// First octet of the space, and how many /8 it has.
    pub space: (u8, u8),
}

/// Shares of what is unusual, of one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shares {
    /// Ranges that are no prefix: 35 of 2,335 in RIPE's Russian part.
    pub non_cidr: f64,
    /// Assignments that name no organisation; nearly all of RIPE's do not.
    pub no_organisation: f64,
    /// Objects that stand for no holder.
    pub placeholders: f64,
}

impl Default for Shares {
    fn default() -> Self {
        Self { non_cidr: 0.015, no_organisation: 0.92, placeholders: 0.000_2 }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Net {
    pub(super) first: u32,
    pub(super) last: u32,
    /// Whether it is an allocation, which others lie in.
    pub(super) allocation: bool,
    pub(super) placeholder: bool,
    /// Number of the organisation, where one is named.
    pub(super) organisation: Option<u32>,
    /// Whose customer it is otherwise: neighbours often have the same.
    pub(super) customer: u32,
}

impl Net {
    pub(super) fn ends(&self) -> (Ipv4Addr, Ipv4Addr) {
        (self.first.into(), self.last.into())
    }
}

/// All ranges of a registry, in order.
pub(super) fn nets(size: Size, shares: Shares, seed: u64) -> impl Iterator<Item = Net> {
    let mut chance = ChaCha8Rng::seed_from_u64(seed);
    // A small dump has few allocations rather than empty ones.
    let allocations = (u32::from(size.space.1) << 12).min(size.nets / FEWEST).max(1);
    let base = u32::from(size.space.0) << 24;
    (0..allocations).flat_map(move |place| {
        // Each takes its share of what is left, so that the sum comes out exactly.
        let until =
            |place: u32| (u64::from(size.nets) * u64::from(place) / u64::from(allocations)) as u32;
        let count = until(place + 1) - until(place);
        one_allocation(base + place * ALLOCATION, count, size, shares, &mut chance)
    })
}

fn one_allocation(
    first: u32,
    count: u32,
    size: Size,
    shares: Shares,
    chance: &mut ChaCha8Rng,
) -> Vec<Net> {
    let Some(inside) = count.checked_sub(1) else { return vec![] };
    let organisation = Some(chance.random_range(0..size.organisations.max(1)));
    let last = first + ALLOCATION - 1;
    let allocation =
        Net { first, last, allocation: true, placeholder: false, organisation, customer: 0 };
    let mut made = Vec::with_capacity(count as usize);
    made.push(allocation);
    // A power of two, so that an assignment is a prefix unless it is meant to be none.
    let most = (ALLOCATION / inside.max(1)).max(1).ilog2();
    let run_directory = 1 << most;
    for place in 0..inside {
        made.push(assignment(first + place * run_directory, most, size, shares, chance));
    }
    made
}

fn assignment(first: u32, most: u32, size: Size, shares: Shares, chance: &mut ChaCha8Rng) -> Net {
    let addresses = 1_u32 << chance.random_range(0..=most);
    let odd = addresses > 2 && chance.random_bool(shares.non_cidr);
    let last = first + addresses - 1 - u32::from(odd);
    let named = !chance.random_bool(shares.no_organisation);
    let organisation = named.then(|| chance.random_range(0..size.organisations.max(1)));
    let placeholder = chance.random_bool(shares.placeholders);
    Net {
        first,
        last,
        allocation: false,
        placeholder,
        organisation,
        customer: chance.random_range(0..size.nets / 2 + 1),
    }
}
