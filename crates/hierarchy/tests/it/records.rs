//! Random records over few addresses, so that ranges nest, touch, cross and coincide often. The
//! addresses are spread over both address spaces, so that lookups use the whole index.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use hierarchy::{
    BuildReport, Builder, CompanyId, CompanyIndex, Country, Generation, Hierarchy, Range, Record,
    Registry, SubnetKind,
};
use proptest::prelude::*;

/// Number of points on a line, at which ranges begin and end.
const POINTS: u32 = 48;

/// Position of the points: `base + point * step`, and `step - 1` further for the last
/// address of a range.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Line {
    V4 { base: u32, step: u32 },
    V6 { base: u128, step: u128 },
}

impl Line {
    pub(crate) fn address(self, point: u32) -> IpAddr {
        match self {
            Self::V4 { base, step } => Ipv4Addr::from_bits(base + step * point).into(),
            Self::V6 { base, step } => Ipv6Addr::from_bits(base + step * u128::from(point)).into(),
        }
    }

    pub(crate) fn range(self, a: u32, b: u32) -> Range {
        let from = a.min(b);
        let to = a.max(b);
        let last = match (self, self.address(to)) {
            (Self::V4 { step, .. }, IpAddr::V4(last)) => {
                Ipv4Addr::from_bits(last.to_bits() + (step - 1)).into()
            }
            (Self::V6 { step, .. }, IpAddr::V6(last)) => {
                Ipv6Addr::from_bits(last.to_bits() + (step - 1)).into()
            }
            (_, other) => other,
        };
        Range::new(self.address(from), last).unwrap()
    }
}

fn line() -> impl Strategy<Value = Line> {
    let v4 = |base, step| Line::V4 { base, step };
    let v6 = |base, step| Line::V6 { base, step };
    prop_oneof![
        Just(v4(0, 1)),
        Just(v4(0x0a00_0000, 0x1_0003)),
        Just(v4(0, (1 << 26) + 7)),
        Just(v4(u32::MAX - 47, 1)),
        Just(v6(0x2001 << 112, 1 << 80)),
        Just(v6(0x2a00 << 112, 1)),
        Just(v6(0, 1 << 122)),
        Just(v6(u128::MAX - 47, 1)),
    ]
}

fn attributes()
-> impl Strategy<Value = (SubnetKind, Option<Registry>, Option<u32>, Option<Country>)> {
    let kinds = [SubnetKind::Block, SubnetKind::Virtual, SubnetKind::Delegated];
    let kind = proptest::sample::select(kinds.to_vec());
    let registry = proptest::option::of(proptest::sample::select(Registry::ALL.to_vec()));
    let country = proptest::option::of("[A-Z]{2}".prop_map(|text| text.parse().unwrap()));
    (kind, registry, proptest::option::of(0..6_u32), country)
}

/// Any record; its range may be equal to that of another record or cross it.
pub(crate) fn record() -> impl Strategy<Value = Record> {
    (line(), 0..POINTS, 0..POINTS, attributes()).prop_map(
        |(line, a, b, (kind, registry, company, country))| Record {
            range: line.range(a, b),
            kind,
            registry,
            company: company.map(CompanyId::new),
            country,
        },
    )
}

pub(crate) fn records() -> impl Strategy<Value = Vec<Record>> {
    proptest::collection::vec(record(), 0..40)
}

/// Records without crossing ranges.
pub(crate) fn laminar() -> impl Strategy<Value = Vec<Record>> {
    records().prop_map(|mut records| {
        let mut kept: Vec<Record> = vec![];
        records.retain(|record| {
            let fits = kept.iter().all(|other| !crosses(&record.range, &other.range));
            kept.extend(fits.then_some(*record));
            fits
        });
        records
    })
}

fn crosses(a: &Range, b: &Range) -> bool {
    let overlap = a.contains(b.first()) || b.contains(a.first());
    overlap && !a.contains_range(b) && !b.contains_range(a)
}

/// Builds generation 7 with six companies, so that the company ids of the records exist.
pub(crate) fn build(records: &[Record]) -> (Hierarchy, BuildReport) {
    let mut companies = CompanyIndex::default();
    for handle in ["a", "b", "c", "d", "e", "f"] {
        companies.number(Registry::Arin, handle);
    }
    let mut builder = Builder::default();
    for record in records {
        builder.add(*record);
    }
    builder.build(Generation::new(7), companies.into_companies())
}

/// Addresses at which a lookup may go wrong: both ends of every range and their neighbours.
pub(crate) fn probes(ranges: impl IntoIterator<Item = Range>) -> Vec<IpAddr> {
    let around =
        |address: IpAddr| match address {
            IpAddr::V4(a) => [-1_i32, 0, 1]
                .map(|d| Ipv4Addr::from_bits(a.to_bits().wrapping_add_signed(d)).into()),
            IpAddr::V6(a) => [-1_i128, 0, 1]
                .map(|d| Ipv6Addr::from_bits(a.to_bits().wrapping_add_signed(d)).into()),
        };
    ranges.into_iter().flat_map(|r| [r.first(), r.last()]).flat_map(around).collect()
}
