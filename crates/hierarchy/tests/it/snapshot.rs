//! Snapshots: reading returns what was written, and damaged bytes are refused.

use std::net::IpAddr;

use hierarchy::{Hierarchy, Snapshot, SnapshotError};
use proptest::prelude::*;
use proptest::sample::Index;

use crate::records::{build, probes, records};

/// Size of the header, which is followed by the columns.
const HEADER: usize = 96;
/// Size of a checksum at the end of the header and of the columns.
const CHECKSUM: usize = 4;

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

/// Updates the checksum after a change of the columns.
fn with_checksum(mut bytes: Vec<u8>) -> Vec<u8> {
    let end = bytes.len() - CHECKSUM;
    let sum = crc32fast::hash(&bytes[HEADER..end]);
    bytes[end..].copy_from_slice(&sum.to_ne_bytes());
    bytes
}

#[test]
fn each_defect_of_a_snapshot_has_its_error() {
    let (hierarchy, _) = build(&[]);
    let bytes = written(&hierarchy);
    assert_eq!(read(&bytes).unwrap().mark, 77);
    let error = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = bytes.clone();
        change(&mut bytes);
        read(&bytes).unwrap_err().to_string()
    };
    assert_eq!(error(&|bytes| bytes[0] = b'N'), "this is not a snapshot of a hierarchy");
    assert_eq!(
        error(&|bytes| bytes[12] = 9),
        "the snapshot has format 9, and this program reads format 2"
    );
    assert_eq!(
        error(&|bytes| bytes[30] ^= 1),
        "the snapshot is damaged: the checksum of its header does not match"
    );
    assert_eq!(
        error(&|bytes| bytes[HEADER] ^= 1),
        "the snapshot is damaged: the checksum of its columns does not match"
    );
    assert_eq!(error(&|bytes| bytes.truncate(HEADER + 3)), "cannot read the snapshot");
    assert_eq!(error(&|bytes| *bytes = vec![]), "cannot read the snapshot");
    let no_root = |bytes: &mut Vec<u8>| {
        bytes[HEADER] = 1;
        *bytes = with_checksum(std::mem::take(bytes));
    };
    assert_eq!(
        error(&no_root),
        "the snapshot is inconsistent: a range ends beyond the last address"
    );
}

#[test]
fn a_length_beyond_the_memory_is_an_error() {
    let mut bytes = written(&build(&[]).0);
    bytes[32..40].copy_from_slice(&(u64::MAX / 2).to_ne_bytes());
    bytes[HEADER - CHECKSUM..HEADER].fill(0);
    let sum = crc32fast::hash(&bytes[..HEADER]);
    bytes[HEADER - CHECKSUM..HEADER].copy_from_slice(&sum.to_ne_bytes());
    assert!(matches!(read(&bytes), Err(SnapshotError::Memory { .. })));
}

proptest! {
    #[test]
    fn a_snapshot_is_read_as_it_was_written(records in records()) {
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
    fn every_damage_is_detected(
        records in records(),
        place in any::<Index>(),
        bit in 0..8_u32,
        end in any::<Index>(),
    ) {
        let bytes = written(&build(&records).0);
        let mut damaged = bytes.clone();
        damaged[place.index(bytes.len())] ^= 1 << bit;
        prop_assert!(read(&damaged).is_err());
        prop_assert!(read(&bytes[..end.index(bytes.len())]).is_err());
    }

    /// With matching checksums: refused, or a hierarchy that answers every query.
    #[test]
    fn inconsistent_columns_are_refused_or_harmless(
        records in records(),
        changes in proptest::collection::vec((any::<Index>(), any::<u8>()), 1..4),
    ) {
        let mut bytes = written(&build(&records).0);
        let columns = HEADER..bytes.len() - CHECKSUM;
        for (place, byte) in changes {
            bytes[columns.start + place.index(columns.len())] = byte;
        }
        let Ok(Snapshot { hierarchy, .. }) = read(&with_checksum(bytes)) else { return Ok(()) };
        for subnet in hierarchy.iter() {
            let holds = |id| hierarchy.subnet(id).range().contains_range(&subnet.range());
            let is_nested = hierarchy.ancestors(subnet.id()).all(holds);
            prop_assert!(is_nested, "{subnet:?}");
            prop_assert_eq!(hierarchy.find(&subnet.range()), Some(subnet.id()));
            prop_assert!(subnet.company().is_none_or(|id| hierarchy.company(id).is_some()));
        }
        for address in probes(hierarchy.iter().map(|subnet| subnet.range())) {
            let smallest = hierarchy.subnet(hierarchy.smallest(address)).range();
            prop_assert!(smallest.contains(address));
        }
        let handles = hierarchy.companies().iter().flat_map(|(_, company)| company.handle.parse());
        let _: Vec<IpAddr> = handles.collect();
    }
}
