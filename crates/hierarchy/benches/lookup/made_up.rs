//! Generated registry data with the properties of real data: neighbours of all sizes, some of them
//! subdivided up to three times, gaps, and about two ranges in a hundred that are no prefix. One
//! range in ten is IPv6: /32s, every fourth with /48s inside.

use std::net::{Ipv4Addr, Ipv6Addr};

use hierarchy::{
    BlockLevel, Builder, CompanyIndex, Generation, Hierarchy, Range, Record, Registry, SubnetKind,
};

const LEVELS: [BlockLevel; 2] =
    [BlockLevel { prefix: 8, min_records: 1 }, BlockLevel { prefix: 16, min_records: 2 }];

/// SplitMix64 (Steele, Lea, Flood 2014): the same numbers on every machine.
pub(crate) struct Random(u64);

impl Random {
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

struct Generator {
    random: Random,
    builder: Builder,
    companies: CompanyIndex,
    left: usize,
}

pub(crate) fn made_up(ranges: usize) -> Hierarchy {
    let mut generator = Generator {
        random: Random::new(7),
        builder: Builder::default(),
        companies: CompanyIndex::default(),
        left: ranges,
    };
    let v6 = ranges / 10;
    generator.add_v6(v6);
    // Mean size of a top-level range for which the wanted number fills nine tenths of the address
    // space.
    let mean = (0.9 * f64::from(u32::MAX) / (ranges - v6) as f64 * 2.2).log2().max(4.0) as u32;
    let mut at = 1_u32 << 24;
    while generator.left > 0 {
        let bits = (mean + (generator.random.bits() % 7)).saturating_sub(3).clamp(2, 20);
        let size = 1_u32 << bits;
        let Some(first) = at.checked_next_multiple_of(size) else { break };
        let Some(next) = first.checked_add(size) else { break };
        if !generator.random.one_in(10) {
            generator.divide(first, bits, 0);
        }
        at = next;
    }
    generator.builder.group(&LEVELS, &[]);
    generator.builder.build(Generation::new(1), generator.companies.into_companies()).0
}

impl Generator {
    /// Adds a /32 of each /31 from 2a00:: on.
    fn add_v6(&mut self, ranges: usize) {
        let end = self.left - ranges;
        for holder in 0_u128.. {
            if self.left <= end {
                break;
            }
            let first = 0x2a00_u128 << 112 | holder << 97;
            self.add(v6_range(first, 96));
            if self.random.one_in(4) {
                let mut site = 0_u128;
                for _ in 0..12 {
                    site += 1 + u128::from(self.random.bits() % 5_000);
                    self.add(v6_range(first | site << 80, 80));
                }
            }
        }
    }

    fn add(&mut self, range: Range) {
        self.left = self.left.saturating_sub(1);
        let handle = (self.random.bits() % 100_000).to_string();
        let company = Some(self.companies.number(Registry::Arin, &handle));
        self.builder.add(Record {
            range,
            kind: SubnetKind::Delegated,
            registry: Some(Registry::Arin),
            company,
            country: "US".parse().ok(),
        });
    }

    fn divide(&mut self, first: u32, bits: u32, depth: u32) {
        let mut last = first + ((1 << bits) - 1);
        if self.random.one_in(50) {
            last -= 1 << (bits - 2);
        }
        self.add(Range::new(Ipv4Addr::from(first).into(), Ipv4Addr::from(last).into()).unwrap());
        if depth == 3 || bits < 6 || !self.random.one_in(3) {
            return;
        }
        let part = bits - 3;
        for place in 0..1 << 3 {
            let start = first + (place << part);
            if start + ((1 << part) - 1) <= last && self.random.one_in(2) {
                self.divide(start, part, depth + 1);
            }
        }
    }
}

fn v6_range(first: u128, bits: u32) -> Range {
    let last = first | ((1 << bits) - 1);
    Range::new(Ipv6Addr::from(first).into(), Ipv6Addr::from(last).into()).unwrap()
}
