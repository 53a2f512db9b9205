//! A made-up registry with the shape of real ones: neighbours of all sizes, some subdivided up to
//! three times, some space left free, about two ranges in a hundred that are not a prefix. One in
//! ten is IPv6: /32s, every fourth with /48s inside.

use std::net::{Ipv4Addr, Ipv6Addr};

use hierarchy::{
    BlockLevel, Builder, CompanyIndex, Generation, Hierarchy, Range, Record, Registry, SubnetKind,
};

const LEVELS: [BlockLevel; 2] =
    [BlockLevel { prefix: 8, least: 1 }, BlockLevel { prefix: 16, least: 2 }];

/// SplitMix64 (Steele, Lea, Flood 2014): enough for a bench, and the same everywhere.
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn bits(&mut self) -> u32 {
        (self.next() >> 32) as u32
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.next().is_multiple_of(n)
    }
}

struct Office {
    chance: Chance,
    builder: Builder,
    companies: CompanyIndex,
    left: usize,
}

pub(crate) fn made_up(ranges: usize) -> Hierarchy {
    let mut office = Office {
        chance: Chance::new(7),
        builder: Builder::default(),
        companies: CompanyIndex::default(),
        left: ranges,
    };
    let v6 = ranges / 10;
    office.six(v6);
    // Mean size of a top-level range for which the wanted number fills nine tenths of the line.
    let mean = (0.9 * f64::from(u32::MAX) / (ranges - v6) as f64 * 2.2).log2().max(4.0) as u32;
    let mut at = 1_u32 << 24;
    while office.left > 0 {
        let bits = (mean + (office.chance.bits() % 7)).saturating_sub(3).clamp(2, 20);
        let size = 1_u32 << bits;
        let Some(first) = at.checked_next_multiple_of(size) else { break };
        let Some(next) = first.checked_add(size) else { break };
        if !office.chance.one_in(10) {
            office.divide(first, bits, 0);
        }
        at = next;
    }
    office.builder.group(&LEVELS, &[]);
    office.builder.build(Generation::new(1), office.companies.into_companies()).0
}

impl Office {
    /// IPv6: a /32 of each /31 from 2a00:: on.
    fn six(&mut self, ranges: usize) {
        let end = self.left - ranges;
        for holder in 0_u128.. {
            if self.left <= end {
                break;
            }
            let first = 0x2a00_u128 << 112 | holder << 97;
            self.add(six(first, 96));
            if self.chance.one_in(4) {
                let mut site = 0_u128;
                for _ in 0..12 {
                    site += 1 + u128::from(self.chance.bits() % 5_000);
                    self.add(six(first | site << 80, 80));
                }
            }
        }
    }

    fn add(&mut self, range: Range) {
        self.left = self.left.saturating_sub(1);
        let handle = (self.chance.bits() % 100_000).to_string();
        let company = Some(self.companies.number(Registry::Arin, &handle));
        let (kind, registry) = (SubnetKind::Delegated, Some(Registry::Arin));
        self.builder.add(Record { range, kind, registry, company, country: "US".parse().ok() });
    }

    fn divide(&mut self, first: u32, bits: u32, depth: u32) {
        let mut last = first + ((1 << bits) - 1);
        if self.chance.one_in(50) {
            last -= 1 << (bits - 2);
        }
        self.add(Range::new(Ipv4Addr::from(first).into(), Ipv4Addr::from(last).into()).unwrap());
        if depth == 3 || bits < 6 || !self.chance.one_in(3) {
            return;
        }
        let part = bits - 3;
        for place in 0..1 << 3 {
            let start = first + (place << part);
            if start + ((1 << part) - 1) <= last && self.chance.one_in(2) {
                self.divide(start, part, depth + 1);
            }
        }
    }
}

fn six(first: u128, bits: u32) -> Range {
    let last = first | ((1 << bits) - 1);
    Range::new(Ipv6Addr::from(first).into(), Ipv6Addr::from(last).into()).unwrap()
}
