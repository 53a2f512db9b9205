//! Virtual subnets: parts of subnets that measurements showed to be in different places.

use std::cmp::Reverse;
use std::collections::HashMap;

use crate::builder::Builder;
use crate::id::Generation;
use crate::range::Range;
use crate::record::{Record, SubnetKind};
use crate::tree::{Hierarchy, Subnet};

/// A subnet with machines in several places, and the parts that are each in one place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubnetSplit {
    /// A subnet that may be delegated, or a part of another split.
    pub whole: Range,
    /// Ranges inside `whole` that do not overlap; each becomes a virtual subnet.
    pub parts: Vec<Range>,
}

impl Hierarchy {
    /// A copy of this generation with the parts added as virtual subnets, and the number added;
    /// `None` where no part can be added.
    ///
    /// The registry's data has precedence over measurements. Left out are parts of what may not be
    /// delegated here, parts that exist already, parts that cross a registered range, and parts
    /// inside a smaller registered range.
    pub fn split(&self, generation: Generation, splits: &[SubnetSplit]) -> Option<(Self, usize)> {
        let parts = self.new_parts(splits);
        if parts.is_empty() {
            return None;
        }
        Some((self.with_records(generation, parts.values().copied()), parts.len()))
    }

    /// A copy of this generation with more records.
    pub(crate) fn with_records(
        &self,
        generation: Generation,
        added: impl Iterator<Item = Record>,
    ) -> Self {
        let mut builder = Builder::default();
        let below_roots = self.iter().filter(|subnet| subnet.kind() != SubnetKind::Root);
        let existing = below_roots.map(|subnet| record(&subnet));
        existing.chain(added).for_each(|record| builder.add(record));
        builder.build(generation, self.companies().clone()).0
    }

    /// The parts to add by range, each with the attributes of the subnet that it is part of.
    fn new_parts(&self, splits: &[SubnetSplit]) -> HashMap<Range, Record> {
        // A part can be split again; the wider subnet comes first, so that the part is known then.
        let mut splits: Vec<&SubnetSplit> = splits.iter().collect();
        splits.sort_by_key(|split| Reverse(split.whole.addresses()));
        let mut parts: HashMap<Range, Record> = HashMap::new();
        for split in splits {
            // A block may have taken the place of a subnet that was split; its records are several
            // holders'.
            let existing = self.find_delegable(&split.whole).map(|id| record(&self.subnet(id)));
            let Some(whole) = existing.or_else(|| parts.get(&split.whole).copied()) else {
                continue;
            };
            for part in split.parts.iter().filter(|part| self.can_add(&split.whole, part)) {
                parts.insert(*part, Record { range: *part, kind: SubnetKind::Virtual, ..whole });
            }
        }
        parts
    }

    fn can_add(&self, whole: &Range, part: &Range) -> bool {
        let around = self.smallest_holding(part);
        let is_disjoint =
            |other: &Range| other.last() < part.first() || part.last() < other.first();
        let nests = |other: &Range| is_disjoint(other) || part.contains_range(other);
        whole.contains_range(part)
            && whole != part
            && self.subnet(around).range().contains_range(whole)
            && self.children(around).all(|child| nests(&self.subnet(child).range()))
            && self.find(part).is_none()
    }
}

fn record(subnet: &Subnet<'_>) -> Record {
    Record {
        range: subnet.range(),
        kind: subnet.kind(),
        registry: subnet.registry(),
        company: subnet.company(),
        country: subnet.country(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CompanyIndex, Registry};

    fn range(text: &str) -> Range {
        text.parse().unwrap()
    }

    fn hierarchy(ranges: &[&str]) -> Hierarchy {
        let mut companies = CompanyIndex::default();
        let mut builder = Builder::default();
        for text in ranges {
            builder.add(Record {
                range: range(text),
                kind: SubnetKind::Delegated,
                registry: Some(Registry::RipeNcc),
                company: Some(companies.number(Registry::RipeNcc, text)),
                country: "NL".parse().ok(),
            });
        }
        builder.build(Generation::new(1), companies.into_companies()).0
    }

    fn split(whole: &str, parts: &[&str]) -> SubnetSplit {
        SubnetSplit { whole: range(whole), parts: parts.iter().map(|part| range(part)).collect() }
    }

    fn below(hierarchy: &Hierarchy, whole: &str) -> Vec<String> {
        let whole = hierarchy.find(&range(whole)).unwrap();
        hierarchy.children(whole).map(|child| hierarchy.subnet(child).range().to_string()).collect()
    }

    #[test]
    fn parts_become_virtual_subnets_of_the_same_company() {
        let old = hierarchy(&["193.0.0.0/16", "194.0.0.0/16"]);
        let splits = [split("193.0.0.0/16", &["193.0.0.0/17", "193.0.128.0/17"])];
        let (new, parts) = old.split(Generation::new(2), &splits).unwrap();
        assert_eq!((parts, new.len(), new.generation()), (2, old.len() + 2, Generation::new(2)));
        assert_eq!(below(&new, "193.0.0.0/16"), ["193.0.0.0/17", "193.0.128.0/17"]);
        let part = new.subnet(new.smallest("193.0.200.1".parse().unwrap()));
        let whole = new.subnet(part.parent().unwrap());
        assert_eq!(part.kind(), SubnetKind::Virtual);
        assert_eq!(
            (part.company(), part.country(), part.registry()),
            (whole.company(), whole.country(), whole.registry())
        );
        assert!(new.split(Generation::new(3), &splits).is_none(), "the parts exist");
    }

    #[test]
    fn a_part_can_be_split_again_in_whatever_order_the_splits_are_given() {
        let old = hierarchy(&["193.0.0.0/16"]);
        let splits = [
            split("193.0.0.0/17", &["193.0.0.0/18", "193.0.64.0/18"]),
            split("193.0.0.0/16", &["193.0.0.0/17", "193.0.128.0/17"]),
        ];
        let (new, parts) = old.split(Generation::new(2), &splits).unwrap();
        assert_eq!(parts, 4);
        assert_eq!(below(&new, "193.0.0.0/17"), ["193.0.0.0/18", "193.0.64.0/18"]);
    }

    #[test]
    fn a_part_never_crosses_a_registered_range() {
        let old = hierarchy(&["193.0.0.0/16", "193.0.100.0 - 193.0.160.255", "193.0.0.0/24"]);
        let splits = [
            split("193.0.0.0/16", &["193.0.0.0/17", "193.0.128.0/17"]),
            split("195.0.0.0/16", &["195.0.0.0/17"]),
            split("193.0.0.0/16", &["193.0.0.0/25"]),
        ];
        assert!(old.split(Generation::new(2), &splits).is_none());
        let beside =
            [split("193.0.0.0/16", &["193.0.0.0 - 193.0.99.255", "193.0.100.0 - 193.0.255.255"])];
        let (new, parts) = old.split(Generation::new(2), &beside).unwrap();
        assert_eq!(parts, 2);
        assert_eq!(below(&new, "193.0.0.0 - 193.0.99.255"), ["193.0.0.0/24"]);
    }

    #[test]
    fn a_block_is_not_split() {
        let mut builder = Builder::default();
        let records = [
            ("193.0.0.0/16", SubnetKind::Block),
            ("193.0.0.0/18", SubnetKind::Delegated),
            ("193.0.128.0/18", SubnetKind::Delegated),
        ];
        for (text, kind) in records {
            builder.add(Record {
                range: range(text),
                kind,
                registry: Some(Registry::RipeNcc),
                company: None,
                country: None,
            });
        }
        let hierarchy = builder.build(Generation::new(1), CompanyIndex::default().into_companies());
        let splits = [split("193.0.0.0/16", &["193.0.0.0/17", "193.0.128.0/17"])];
        assert!(hierarchy.0.split(Generation::new(2), &splits).is_none());
    }
}
