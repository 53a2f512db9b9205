//! Properties of every hierarchy, made of any records.

use std::net::IpAddr;

use hierarchy::{Range, SubnetId, SubnetKind};
use proptest::prelude::*;

use crate::model::Model;
use crate::records::{build, laminar, probes, record, records};

proptest! {
    /// Parents hold their children, siblings are disjoint, and ids follow the order of ranges.
    #[test]
    fn it_is_a_tree(records in records()) {
        let (hierarchy, _) = build(&records);
        let ranges = Model::of(&hierarchy).ranges;
        prop_assert!(ranges.is_sorted_by(|a, b| a < b), "{ranges:?}");
        for subnet in hierarchy.iter() {
            let range = subnet.range();
            let Some(parent) = subnet.parent() else {
                prop_assert!(range == Range::V4 || range == Range::V6);
                prop_assert_eq!(subnet.kind(), SubnetKind::Root);
                continue;
            };
            prop_assert!(hierarchy.subnet(parent).range().contains_range(&range));
            for sibling in hierarchy.children(parent).filter(|sibling| *sibling != subnet.id()) {
                let other = hierarchy.subnet(sibling).range();
                prop_assert!(!other.contains(range.first()) && !range.contains(other.first()));
            }
        }
    }

    #[test]
    fn the_smallest_subnet_is_that_of_the_model(records in records(), others in records()) {
        let (hierarchy, _) = build(&records);
        let model = Model::of(&hierarchy);
        for address in probes(records.iter().chain(&others).map(|record| record.range)) {
            let found = hierarchy.smallest(address);
            prop_assert_eq!(found, model.smallest(address), "{} in {:?}", address, model.ranges);
        }
    }

    #[test]
    fn relatives_are_those_of_the_model(records in records()) {
        let (hierarchy, _) = build(&records);
        let model = Model::of(&hierarchy);
        for id in model.ids() {
            prop_assert_eq!(hierarchy.parent(id), model.parent(id));
            prop_assert_eq!(hierarchy.ancestors(id).collect::<Vec<_>>(), model.ancestors(id));
            prop_assert_eq!(hierarchy.subnet(id).depth(), model.ancestors(id).len());
            prop_assert_eq!(hierarchy.children(id).collect::<Vec<_>>(), model.children(id));
        }
    }

    /// Without crossing ranges the subnets are exactly the ranges of the records and the two roots.
    #[test]
    fn ranges_that_nest_are_kept(records in laminar()) {
        let (hierarchy, report) = build(&records);
        let ranges = records.iter().map(|record| record.range);
        let mut expected: Vec<_> = ranges.chain([Range::V4, Range::V6]).collect();
        expected.sort();
        expected.dedup();
        prop_assert_eq!(report.crossing, 0);
        prop_assert_eq!(report.records, records.len() as u64);
        prop_assert_eq!(Model::of(&hierarchy).ranges, expected);
    }

    /// Even with crossing ranges, every address of a record lies in a subnet inside the record.
    #[test]
    fn no_address_loses_its_subnet(records in records()) {
        let (hierarchy, _) = build(&records);
        for record in &records {
            let inside = |address: &IpAddr| record.range.contains(*address);
            for address in probes(records.iter().map(|r| r.range)).into_iter().filter(inside) {
                let smallest = hierarchy.smallest(address);
                let chain = std::iter::once(smallest).chain(hierarchy.ancestors(smallest));
                let mut ranges = chain.map(|id| hierarchy.subnet(id).range());
                let is_held = ranges.any(|range| record.range.contains_range(&range));
                prop_assert!(is_held, "{} of {}", address, record.range);
            }
        }
    }

    /// Each subnet has the attributes of a record with its range.
    #[test]
    fn attributes_are_one_of_the_records(records in laminar()) {
        let (hierarchy, _) = build(&records);
        for subnet in hierarchy.iter().filter(|subnet| subnet.kind() != SubnetKind::Root) {
            let is_same = |r: &&_| same(r, &subnet);
            prop_assert!(records.iter().find(is_same).is_some(), "{subnet:?}");
        }
    }

    #[test]
    fn ranges_are_found(records in records(), other in record()) {
        let (hierarchy, _) = build(&records);
        for subnet in hierarchy.iter() {
            prop_assert_eq!(hierarchy.find(&subnet.range()), Some(subnet.id()));
            prop_assert_eq!(hierarchy.smallest_holding(&subnet.range()), subnet.id());
        }
        let model = Model::of(&hierarchy);
        let place = model.ranges.iter().position(|range| *range == other.range);
        let known = place.map(|place| SubnetId::new(place as u32));
        prop_assert_eq!(hierarchy.find(&other.range), known);
        let holds = |id: &SubnetId| hierarchy.subnet(*id).range().contains_range(&other.range);
        let holding = model.ids().filter(holds);
        prop_assert_eq!(Some(hierarchy.smallest_holding(&other.range)), holding.last());
    }
}

fn same(record: &hierarchy::Record, subnet: &hierarchy::Subnet<'_>) -> bool {
    record.range == subnet.range()
        && record.kind == subnet.kind()
        && record.registry == subnet.registry()
        && record.company == subnet.company()
        && record.country == subnet.country()
}
