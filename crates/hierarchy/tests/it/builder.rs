//! Conflicts between records that the builder resolves.

use hierarchy::{CompanyId, Hierarchy, Range, Record, Registry, SubnetId, SubnetKind};

use crate::records::build;

fn record(range: &str, company: u32) -> Record {
    Record {
        range: range.parse().unwrap(),
        kind: SubnetKind::Delegated,
        registry: Some(Registry::Apnic),
        company: Some(CompanyId::new(company)),
        country: "JP".parse().ok(),
    }
}

fn block(range: &str) -> Record {
    Record { kind: SubnetKind::Block, company: None, country: None, ..record(range, 0) }
}

fn company_at(hierarchy: &Hierarchy, address: &str) -> Option<u32> {
    hierarchy.subnet(hierarchy.smallest(address.parse().unwrap())).company().map(CompanyId::get)
}

#[test]
fn without_records_there_are_the_two_roots() {
    let (hierarchy, report) = build(&[]);
    assert_eq!(hierarchy.iter().map(|s| s.range()).collect::<Vec<_>>(), [Range::V4, Range::V6]);
    assert_eq!(report, hierarchy::BuildReport::default());
    assert_eq!(hierarchy.smallest("10.1.2.3".parse().unwrap()), SubnetId::new(0));
    assert_eq!(hierarchy.smallest("2001:db8::1".parse().unwrap()), SubnetId::new(1));
    assert_eq!(hierarchy.generation().get(), 7);
}

#[test]
fn of_equal_ranges_the_earlier_record_wins_and_a_delegated_one_replaces_a_block() {
    let (hierarchy, report) = build(&[
        block("10.0.0.0/8"),
        record("10.0.0.0/8", 1),
        record("10.0.0.0/8", 2),
        record("0.0.0.0/0", 3),
    ]);
    assert_eq!((hierarchy.len(), report.equal), (3, 2));
    assert_eq!(company_at(&hierarchy, "10.0.0.1"), Some(1));
    assert_eq!(company_at(&hierarchy, "11.0.0.1"), None);
}

#[test]
fn a_crossing_range_is_split_where_the_earlier_one_ends() {
    let (hierarchy, report) =
        build(&[record("10.0.0.0 - 10.0.0.99", 1), record("10.0.0.50 - 10.0.0.150", 2)]);
    let ranges: Vec<_> = hierarchy.iter().map(|s| s.range().to_string()).collect();
    let expected = [
        "0.0.0.0/0",
        "10.0.0.0 - 10.0.0.99",
        "10.0.0.50 - 10.0.0.99",
        "10.0.0.100 - 10.0.0.150",
        "::/0",
    ];
    assert_eq!(ranges, expected);
    assert_eq!((report.crossing, report.equal), (1, 0));
    let answers =
        ["10.0.0.49", "10.0.0.50", "10.0.0.100", "10.0.0.151"].map(|a| company_at(&hierarchy, a));
    assert_eq!(answers, [Some(1), Some(2), Some(2), None]);
    let of_company = |subnet: &hierarchy::Subnet<'_>| subnet.company() == Some(CompanyId::new(2));
    assert_eq!(hierarchy.iter().filter(of_company).count(), 2);
}

#[test]
fn a_whole_range_replaces_an_equal_piece_of_a_split_one() {
    let (hierarchy, _) = build(&[
        record("10.0.0.0 - 10.0.0.99", 1),
        record("10.0.0.50 - 10.0.0.150", 2),
        record("10.0.0.50 - 10.0.0.99", 3),
        record("10.0.0.100 - 10.0.0.150", 4),
    ]);
    assert_eq!(company_at(&hierarchy, "10.0.0.60"), Some(3));
    assert_eq!(company_at(&hierarchy, "10.0.0.120"), Some(4));
}

#[test]
fn a_company_that_does_not_exist_is_dropped() {
    let (hierarchy, _) = build(&[record("10.0.0.0/8", 99)]);
    assert_eq!(company_at(&hierarchy, "10.0.0.1"), None);
    assert!(hierarchy.company(CompanyId::new(99)).is_none());
}

#[test]
fn an_id_of_another_generation_has_no_relatives() {
    let (hierarchy, _) = build(&[record("10.0.0.0/8", 1)]);
    for foreign in [SubnetId::new(3), SubnetId::new(u32::MAX)] {
        assert!(hierarchy.get(foreign).is_none());
        assert!(hierarchy.parent(foreign).is_none());
        assert_eq!(hierarchy.ancestors(foreign).count(), 0);
        assert_eq!(hierarchy.children(foreign).count(), 0);
    }
}
