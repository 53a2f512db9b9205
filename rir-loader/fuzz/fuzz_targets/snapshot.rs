//! Snapshots of small hierarchies with some bytes changed and checksums that match: without them
//! hardly an input would get past the first check.

#![no_main]

use std::net::{Ipv4Addr, Ipv6Addr};

use hierarchy::{
    Builder, CompanyIndex, Generation, Hierarchy, Range, Record, Registry, Snapshot, SubnetKind,
};
use libfuzzer_sys::fuzz_target;

/// Bytes before the columns; the last four are their checksum.
const HEADER: usize = 96;
/// Where the header counts what follows: seven numbers of eight bytes.
const COUNTS: std::ops::Range<usize> = 32..88;
const SUM: usize = 4;

/// First address, bits of the prefix or addresses beyond the first, company.
type Net = (u32, u8, u8, bool);

fuzz_target!(|input: (Vec<Net>, Vec<(u16, u8)>)| {
    let (nets, changes) = input;
    let mut bytes = vec![];
    Snapshot::write(&built(&nets), 7, &mut bytes).unwrap();
    for (place, byte) in &changes {
        let place = usize::from(*place) % bytes.len();
        bytes[place] = *byte;
    }
    make_match(&mut bytes);
    let Ok(Snapshot { hierarchy, mark }) = Snapshot::read(&mut &*bytes) else {
        assert!(!changes.is_empty(), "what was written cannot be read");
        return;
    };
    keeps_its_promises(&hierarchy);
    let mut again = vec![];
    Snapshot::write(&hierarchy, mark, &mut again).unwrap();
    assert_eq!(Snapshot::read(&mut &*again).unwrap().hierarchy.len(), hierarchy.len());
});

fn built(nets: &[Net]) -> Hierarchy {
    let mut builder = Builder::default();
    let mut companies = CompanyIndex::default();
    for (first, size, company, v4) in nets.iter().take(100) {
        let range = if *v4 {
            let last = first.saturating_add(u32::from(*size).pow(3));
            Range::new(Ipv4Addr::from(*first).into(), Ipv4Addr::from(last).into())
        } else {
            let first = u128::from(*first) << 96;
            let last = first | u128::MAX.checked_shr(u32::from(size % 128)).unwrap_or(0);
            Range::new(Ipv6Addr::from(first).into(), Ipv6Addr::from(last).into())
        };
        let kind = if company % 4 == 0 { SubnetKind::Block } else { SubnetKind::Delegated };
        let company =
            (company % 3 > 0).then(|| companies.number(Registry::Arin, &company.to_string()));
        let Ok(range) = range else { continue };
        builder.add(Record { range, kind, registry: Some(Registry::Arin), company, country: None });
    }
    builder.build(Generation::new(1), companies.into_companies()).0
}

/// Right sums, and no column of more than 64 Ki entries: that too much is refused is tested
/// elsewhere.
fn make_match(bytes: &mut [u8]) {
    for count in bytes[COUNTS].chunks_exact_mut(8) {
        count[2..].fill(0);
    }
    let end = bytes.len() - SUM;
    let columns = crc32fast::hash(&bytes[HEADER..end]);
    bytes[end..].copy_from_slice(&columns.to_ne_bytes());
    bytes[HEADER - SUM..HEADER].fill(0);
    let header = crc32fast::hash(&bytes[..HEADER]);
    bytes[HEADER - SUM..HEADER].copy_from_slice(&header.to_ne_bytes());
}

fn keeps_its_promises(hierarchy: &Hierarchy) {
    for subnet in hierarchy.iter() {
        let range = subnet.range();
        assert_eq!(hierarchy.find(&range), Some(subnet.id()));
        assert!(
            hierarchy
                .ancestors(subnet.id())
                .all(|id| hierarchy.subnet(id).range().contains_range(&range))
        );
        assert!(hierarchy.subnet(hierarchy.smallest(range.last())).range().contains(range.last()));
        assert!(subnet.company().is_none_or(|id| hierarchy.company(id).is_some()));
    }
}
