//! What was written is what is read, and what was damaged is refused.

use std::net::IpAddr;

use hierarchy::{Hierarchy, Snapshot, SnapshotError};
use proptest::prelude::*;
use proptest::sample::Index;

use crate::records::{build, probes, records};

/// Bytes before the columns.
const HEADER: usize = 96;
/// Bytes of a checksum.
const SUM: usize = 4;

fn written(hierarchy: &Hierarchy) -> Vec<u8> {
    let mut bytes = vec![];
    Snapshot::write(hierarchy, 77, &mut bytes).unwrap();
    bytes
}

fn read(bytes: &[u8]) -> Result<Snapshot, SnapshotError> {
    Snapshot::read(&mut &*bytes)
}

fn described(hierarchy: &Hierarchy) -> Vec<String> {
    let companies = hierarchy.companies().iter().map(|(id, company)| format!("{id} {company:?}"));
    let subnets = hierarchy.iter().map(|subnet| format!("{subnet:?} {:?}", subnet.parent()));
    std::iter::once(hierarchy.generation().to_string()).chain(subnets).chain(companies).collect()
}

/// Makes the checksum of changed columns right again.
fn summed(mut bytes: Vec<u8>) -> Vec<u8> {
    let end = bytes.len() - SUM;
    let sum = crc32fast::hash(&bytes[HEADER..end]);
    bytes[end..].copy_from_slice(&sum.to_ne_bytes());
    bytes
}

#[test]
fn a_snapshot_says_what_is_wrong_with_it() {
    let (hierarchy, _) = build(&[]);
    let bytes = written(&hierarchy);
    assert_eq!(read(&bytes).unwrap().mark, 77);
    let said = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = bytes.clone();
        change(&mut bytes);
        read(&bytes).unwrap_err().to_string()
    };
    assert_eq!(said(&|bytes| bytes[0] = b'N'), "this is not a snapshot of a hierarchy");
    assert_eq!(
        said(&|bytes| bytes[12] = 9),
        "the snapshot has format 9, and this program reads format 1"
    );
    assert_eq!(
        said(&|bytes| bytes[30] ^= 1),
        "the snapshot is damaged: the checksum of its header does not match"
    );
    assert_eq!(
        said(&|bytes| bytes[HEADER] ^= 1),
        "the snapshot is damaged: the checksum of its columns does not match"
    );
    assert_eq!(said(&|bytes| bytes.truncate(HEADER + 3)), "cannot read the snapshot");
    assert_eq!(said(&|bytes| *bytes = vec![]), "cannot read the snapshot");
    let no_root = |bytes: &mut Vec<u8>| {
        bytes[HEADER] = 1;
        *bytes = summed(std::mem::take(bytes));
    };
    assert_eq!(
        said(&no_root),
        "the snapshot contradicts itself: a range ends beyond the last address"
    );
}

#[test]
fn a_header_that_asks_for_more_than_there_is_gets_an_error() {
    let mut bytes = written(&build(&[]).0);
    bytes[32..40].copy_from_slice(&(u64::MAX / 2).to_ne_bytes());
    bytes[HEADER - SUM..HEADER].fill(0);
    let sum = crc32fast::hash(&bytes[..HEADER]);
    bytes[HEADER - SUM..HEADER].copy_from_slice(&sum.to_ne_bytes());
    assert!(matches!(read(&bytes), Err(SnapshotError::Memory { .. })));
}

proptest! {
    #[test]
    fn what_was_written_is_read(records in records()) {
        let (hierarchy, _) = build(&records);
        let bytes = written(&hierarchy);
        let snapshot = read(&bytes).unwrap();
        prop_assert_eq!(described(&snapshot.hierarchy), described(&hierarchy));
        for address in probes(records.iter().map(|record| record.range)) {
                prop_assert_eq!(snapshot.hierarchy.smallest(address), hierarchy.smallest(address));
        }
        prop_assert_eq!(written(&snapshot.hierarchy), bytes);
    }

    #[test]
    fn every_damage_is_noticed(records in records(), place in any::<Index>(), bit in 0..8_u32, end in any::<Index>()) {
        let bytes = written(&build(&records).0);
        let mut damaged = bytes.clone();
        damaged[place.index(bytes.len())] ^= 1 << bit;
        prop_assert!(read(&damaged).is_err());
        prop_assert!(read(&bytes[..end.index(bytes.len())]).is_err());
    }

    /// With sums that match: refused, or a hierarchy that answers every question.
    #[test]
    fn nonsense_is_refused_or_harmless(
        records in records(),
        changes in proptest::collection::vec((any::<Index>(), any::<u8>()), 1..4),
    ) {
        let mut bytes = written(&build(&records).0);
        let columns = HEADER..bytes.len() - SUM;
        for (place, byte) in changes {
            bytes[columns.start + place.index(columns.len())] = byte;
        }
        let Ok(Snapshot { hierarchy, .. }) = read(&summed(bytes)) else { return Ok(()) };
        for subnet in hierarchy.iter() {
            let around = hierarchy.ancestors(subnet.id()).all(|id| hierarchy.subnet(id).range().contains_range(&subnet.range()));
            prop_assert!(around, "{subnet:?}");
            prop_assert_eq!(hierarchy.find(&subnet.range()), Some(subnet.id()));
            prop_assert!(subnet.company().is_none_or(|id| hierarchy.company(id).is_some()));
        }
        for address in probes(hierarchy.iter().map(|subnet| subnet.range())) {
                let smallest = hierarchy.subnet(hierarchy.smallest(address)).range();
                prop_assert!(smallest.contains(address));
        }
        let _: Vec<IpAddr> = hierarchy.companies().iter().flat_map(|(_, c)| c.handle.parse()).collect();
    }
}
