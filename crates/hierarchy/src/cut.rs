//! Parts of subnets that measurements found to be in different places.

use std::cmp::Reverse;
use std::collections::HashMap;

use crate::builder::Builder;
use crate::id::Generation;
use crate::range::Range;
use crate::record::{Record, SubnetKind};
use crate::subnet::Subnet;
use crate::tree::Hierarchy;

/// A subnet that is not in one place, and its parts that are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cut {
    /// Its addresses; those of a subnet, or of a part of another cut.
    pub whole: Range,
    /// The parts; they do not overlap.
    pub parts: Vec<Range>,
}

impl Hierarchy {
    /// A generation with these parts as virtual subnets beside all that is here, and how many were
    /// put in; `None` where there is nothing to put in. Left out are parts of what is no subnet
    /// here, parts that are here already, and those that cross what is recorded or lie in something
    /// smaller: the registry knows better.
    pub fn cut(&self, generation: Generation, cuts: &[Cut]) -> Option<(Self, usize)> {
        let parts = self.parts(cuts);
        if parts.is_empty() {
            return None;
        }
        let mut builder = Builder::default();
        let below_roots = self.iter().filter(|subnet| subnet.kind() != SubnetKind::Root);
        let recorded = below_roots.map(|subnet| record(&subnet));
        recorded.chain(parts.values().copied()).for_each(|record| builder.add(record));
        let (hierarchy, _) = builder.build(generation, self.companies().clone());
        Some((hierarchy, parts.len()))
    }

    fn parts(&self, cuts: &[Cut]) -> HashMap<Range, Record> {
        // What is cut out of a part comes after it.
        let mut cuts: Vec<&Cut> = cuts.iter().collect();
        cuts.sort_by_key(|cut| Reverse(cut.whole.addresses()));
        let mut found: HashMap<Range, Record> = HashMap::new();
        for cut in cuts {
            let here = self.find(&cut.whole).map(|id| record(&self.subnet(id)));
            let Some(whole) = here.or_else(|| found.get(&cut.whole).copied()) else { continue };
            for part in cut.parts.iter().filter(|part| self.has_room(&cut.whole, part)) {
                found.insert(*part, Record { range: *part, kind: SubnetKind::Block, ..whole });
            }
        }
        found
    }

    fn has_room(&self, whole: &Range, part: &Range) -> bool {
        let around = self.smallest_holding(part);
        let is_apart = |other: &Range| other.last() < part.first() || part.last() < other.first();
        let fits = |other: &Range| is_apart(other) || part.contains_range(other);
        whole.contains_range(part)
            && whole != part
            && self.subnet(around).range().contains_range(whole)
            && self.children(around).all(|child| fits(&self.subnet(child).range()))
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

    fn ground(ranges: &[&str]) -> Hierarchy {
        let (mut companies, mut builder) = (CompanyIndex::default(), Builder::default());
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

    fn cut(whole: &str, parts: &[&str]) -> Cut {
        Cut { whole: range(whole), parts: parts.iter().map(|part| range(part)).collect() }
    }

    fn below(hierarchy: &Hierarchy, whole: &str) -> Vec<String> {
        let whole = hierarchy.find(&range(whole)).unwrap();
        hierarchy.children(whole).map(|child| hierarchy.subnet(child).range().to_string()).collect()
    }

    #[test]
    fn parts_become_virtual_subnets_of_the_same_company() {
        let old = ground(&["193.0.0.0/16", "194.0.0.0/16"]);
        let cuts = [cut("193.0.0.0/16", &["193.0.0.0/17", "193.0.128.0/17"])];
        let (new, parts) = old.cut(Generation::new(2), &cuts).unwrap();
        assert_eq!((parts, new.len(), new.generation()), (2, old.len() + 2, Generation::new(2)));
        assert_eq!(below(&new, "193.0.0.0/16"), ["193.0.0.0/17", "193.0.128.0/17"]);
        let part = new.subnet(new.smallest("193.0.200.1".parse().unwrap()));
        let whole = new.subnet(part.parent().unwrap());
        assert!(part.is_virtual());
        assert_eq!(
            (part.company(), part.country(), part.registry()),
            (whole.company(), whole.country(), whole.registry())
        );
        assert!(new.cut(Generation::new(3), &cuts).is_none(), "they are there");
    }

    #[test]
    fn a_part_can_be_cut_again_in_whatever_order_they_come() {
        let old = ground(&["193.0.0.0/16"]);
        let cuts = [
            cut("193.0.0.0/17", &["193.0.0.0/18", "193.0.64.0/18"]),
            cut("193.0.0.0/16", &["193.0.0.0/17", "193.0.128.0/17"]),
        ];
        let (new, parts) = old.cut(Generation::new(2), &cuts).unwrap();
        assert_eq!(parts, 4);
        assert_eq!(below(&new, "193.0.0.0/17"), ["193.0.0.0/18", "193.0.64.0/18"]);
    }

    #[test]
    fn what_is_recorded_is_not_cut_across() {
        let old = ground(&["193.0.0.0/16", "193.0.100.0 - 193.0.160.255", "193.0.0.0/24"]);
        let cuts = [
            cut("193.0.0.0/16", &["193.0.0.0/17", "193.0.128.0/17"]),
            cut("195.0.0.0/16", &["195.0.0.0/17"]),
            cut("193.0.0.0/16", &["193.0.0.0/25"]),
        ];
        assert!(old.cut(Generation::new(2), &cuts).is_none());
        let beside =
            [cut("193.0.0.0/16", &["193.0.0.0 - 193.0.99.255", "193.0.100.0 - 193.0.255.255"])];
        let (new, parts) = old.cut(Generation::new(2), &beside).unwrap();
        assert_eq!(parts, 2);
        assert_eq!(below(&new, "193.0.0.0 - 193.0.99.255"), ["193.0.0.0/24"]);
    }
}
