//! Blocks: groups of neighbours.

use hierarchy::{
    BlockLevel, Builder, Companies, Generation, Hierarchy, Record, Registry, SubnetKind,
};
use proptest::prelude::*;

use crate::records::{laminar, records};

const V4: [BlockLevel; 2] =
    [BlockLevel { prefix: 8, min_records: 1 }, BlockLevel { prefix: 16, min_records: 2 }];
const V6: [BlockLevel; 2] =
    [BlockLevel { prefix: 12, min_records: 1 }, BlockLevel { prefix: 23, min_records: 2 }];

fn grouped(records: &[Record]) -> (Hierarchy, hierarchy::BuildReport) {
    let mut builder = Builder::default();
    for record in records {
        builder.add(*record);
    }
    builder.group(&V4, &V6);
    builder.build(Generation::new(1), Companies::default())
}

fn delegated(registry: Registry, range: &str) -> Record {
    let range = range.parse().unwrap();
    Record {
        range,
        kind: SubnetKind::Delegated,
        registry: Some(registry),
        company: None,
        country: None,
    }
}

/// One line for each subnet: a dot for each level, its range, and the registry of a block.
fn outline(records: &[Record]) -> Vec<String> {
    let line = |subnet: hierarchy::Subnet<'_>| {
        let mark = match (subnet.kind(), subnet.registry()) {
            (SubnetKind::Block, Some(registry)) => format!(" {registry}"),
            (SubnetKind::Block, None) => " mixed".to_owned(),
            _ => String::new(),
        };
        format!("{}{}{mark}", ".".repeat(subnet.depth()), subnet.range())
    };
    grouped(records).0.iter().map(line).collect()
}

#[test]
fn neighbours_share_a_block_and_a_single_record_has_no_second_level() {
    let records = [
        delegated(Registry::Apnic, "1.0.0.0/24"),
        delegated(Registry::Apnic, "1.0.4.0/22"),
        delegated(Registry::Arin, "1.7.0.0/24"),
        delegated(Registry::Arin, "6.0.0.0/8"),
        delegated(Registry::RipeNcc, "2a00:1400::/32"),
        delegated(Registry::RipeNcc, "2a00:1500::/32"),
    ];
    let expected = [
        "0.0.0.0/0",
        ".1.0.0.0/8 mixed",
        "..1.0.0.0/16 apnic",
        "...1.0.0.0/24",
        "...1.0.4.0/22",
        "..1.7.0.0/24",
        ".6.0.0.0/8",
        "::/0",
        ".2a00::/12 ripencc",
        "..2a00:1400::/23 ripencc",
        "...2a00:1400::/32",
        "...2a00:1500::/32",
    ];
    assert_eq!(outline(&records), expected);
}

#[test]
fn a_block_ends_before_a_record_that_crosses_its_boundary() {
    let records = [
        delegated(Registry::RipeNcc, "5.0.0.0/24"),
        delegated(Registry::RipeNcc, "5.0.1.0/24"),
        delegated(Registry::RipeNcc, "5.0.255.0 - 5.1.0.255"),
        delegated(Registry::RipeNcc, "5.1.1.0/24"),
        delegated(Registry::RipeNcc, "5.1.2.0/24"),
    ];
    let expected = [
        "0.0.0.0/0",
        ".5.0.0.0/8 ripencc",
        "..5.0.0.0 - 5.0.254.255 ripencc",
        "...5.0.0.0/24",
        "...5.0.1.0/24",
        "..5.0.255.0 - 5.1.0.255",
        "..5.1.1.0 - 5.1.255.255 ripencc",
        "...5.1.1.0/24",
        "...5.1.2.0/24",
        "::/0",
    ];
    assert_eq!(outline(&records), expected);
}

proptest! {
    #[test]
    fn blocks_split_no_record_and_drop_none(records in laminar()) {
        let (hierarchy, report) = grouped(&records);
        prop_assert_eq!(report.crossing, 0);
        for record in &records {
            prop_assert!(hierarchy.find(&record.range).is_some(), "{}", record.range);
        }
    }

    /// A block of the second level holds at least two records, and its registry is theirs.
    #[test]
    fn a_block_has_enough_records_and_their_registry(records in records()) {
        let delegated = |record| Record { kind: SubnetKind::Delegated, ..record };
        let records: Vec<_> = records.into_iter().map(delegated).collect();
        let (hierarchy, report) = grouped(&records);
        let is_block = |subnet: &hierarchy::Subnet<'_>| subnet.kind() == SubnetKind::Block;
        // A record that is split may leave a block with fewer records than it was made for.
        for block in hierarchy.iter().filter(is_block).filter(|_| report.crossing == 0) {
            let is_inside = |record: &&Record| block.range().contains_range(&record.range);
            let inside: Vec<_> = records.iter().filter(is_inside).collect();
            let min_records = if block.depth() == 1 { 1 } else { 2 };
            prop_assert!(inside.len() >= min_records, "{block:?} in {records:?}");
            let shared = inside.iter().all(|r| r.registry == inside[0].registry);
            prop_assert_eq!(block.registry(), inside[0].registry.filter(|_| shared), "{:?}", block);
        }
    }
}
