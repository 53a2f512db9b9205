//! Checks a remapping by other means than the code under test.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;

use hierarchy::remap::{RangeChange, Remapping, SearchRemapping};
use hierarchy::{Hierarchy, Range, SubnetId, SubnetKind};

/// The delegated ranges of a generation. Delegated files are flat: hardly any range lies in
/// another, and of those with the same first address one is enough to find neighbours.
pub(crate) struct DelegatedRanges<'h> {
    hierarchy: &'h Hierarchy,
    ranges: BTreeMap<(bool, IpAddr), Range>,
    holders: HashMap<Range, String>,
}

impl<'h> DelegatedRanges<'h> {
    pub(crate) fn of(hierarchy: &'h Hierarchy) -> Self {
        let delegated = hierarchy.iter().filter(|subnet| subnet.kind() == SubnetKind::Delegated);
        let entry = |subnet: hierarchy::Subnet<'_>| {
            let range = subnet.range();
            let company = subnet.company().and_then(|id| hierarchy.company(id));
            let holder =
                format!("{:?} {:?}", subnet.registry(), company.map(|c| (c.registry, c.handle)));
            (range, holder)
        };
        let delegated: Vec<(Range, String)> = delegated.map(entry).collect();
        let ranges =
            delegated.iter().map(|(range, _)| ((range.is_v4(), range.first()), *range)).collect();
        Self { hierarchy, ranges, holders: delegated.into_iter().collect() }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Range> {
        self.ranges.values().copied()
    }

    /// Delegated ranges inside a range.
    fn inside(&self, range: &Range) -> Vec<Range> {
        let v4 = range.is_v4();
        let begun = self.ranges.range((v4, range.first())..=(v4, range.last()));
        begun.map(|(_, there)| *there).filter(|there| range.contains_range(there)).collect()
    }

    /// The delegated range that contains another.
    fn around(&self, range: &Range) -> Option<Range> {
        let before = self.ranges.range(..=(range.is_v4(), range.first())).next_back();
        before.map(|(_, there)| *there).filter(|there| there.contains_range(range))
    }

    fn holder(&self, range: &Range) -> Option<&str> {
        self.holders.get(range).map(String::as_str)
    }

    /// Whether no smaller subnet contains the range.
    fn is_smallest(&self, successor: &Range, range: &Range) -> bool {
        let id = self.hierarchy.find(successor).unwrap();
        successor.contains_range(range)
            && !self
                .hierarchy
                .children(id)
                .any(|child| self.hierarchy.subnet(child).range().contains_range(range))
    }
}

/// The successors of a claim are those that the definition of its change demands.
pub(crate) fn check_change(
    old: &DelegatedRanges<'_>,
    new: &DelegatedRanges<'_>,
    one: &Remapping<SubnetId>,
) {
    let range = one.claim.range;
    let mut successors: Vec<Range> = one
        .assigned
        .iter()
        .copied()
        .chain(one.ceded.iter().map(|(successor, _)| *successor))
        .collect();
    successors.sort();
    let is_correct = match one.change {
        RangeChange::Same => successors == [range] && new.holder(&range) == old.holder(&range),
        RangeChange::Transferred => {
            successors == [range]
                && new.holder(&range).is_some()
                && new.holder(&range) != old.holder(&range)
        }
        RangeChange::Split => {
            new.holder(&range).is_none()
                && !successors.is_empty()
                && successors == new.inside(&range)
        }
        RangeChange::Merged => {
            let around = new.around(&range).unwrap();
            around != range && successors == [around] && old.holder(&around).is_none()
        }
        RangeChange::Vanished => {
            // A block is no delegated range, and what lies in it is not split from it.
            (new.inside(&range).is_empty() || old.holder(&range).is_none())
                && new.around(&range).is_none()
                && successors.is_empty()
        }
    };
    assert!(is_correct, "{one:?}: {:?}, then {:?}", old.holder(&range), new.holder(&range));
}

/// Each claim gets a subnet or names the claim that got it, unless its range vanished; no subnet
/// has two.
pub(crate) fn check_owners(new: &Hierarchy, remappings: &[Remapping<SubnetId>]) {
    let mut owners = HashMap::new();
    for one in remappings {
        let has_place = !one.assigned.is_empty() || !one.ceded.is_empty();
        assert!(has_place || one.change == RangeChange::Vanished);
        for range in &one.assigned {
            assert!(new.find(range).is_some(), "{range}");
            assert_eq!(owners.insert(*range, one.claim.key), None, "{range} has two");
        }
    }
    for (range, owner) in remappings.iter().flat_map(|one| &one.ceded) {
        assert_eq!(owners.get(range), Some(owner), "{range}");
    }
}

/// Each search is for a subnet that contains its target, and no subnet has two open searches.
pub(crate) fn check_searches(
    new: &DelegatedRanges<'_>,
    searches: &[SearchRemapping<SubnetId>],
    remappings: &[Remapping<SubnetId>],
) {
    let owned: std::collections::HashSet<Range> =
        remappings.iter().flat_map(|one| one.assigned.iter().copied()).collect();
    let mut open = std::collections::HashSet::new();
    for one in searches {
        let target = Range::new(one.search.target, one.search.target).unwrap();
        assert!(one.subnet.contains(one.search.target));
        assert!(one.stays() || new.is_smallest(&one.subnet, &target), "{one:?}");
        assert!(one.stays() || !one.change.stays(), "{one:?}");
        assert!(
            one.redundant
                || (open.insert(one.subnet) && (one.stays() || !owned.contains(&one.subnet))),
            "{one:?}"
        );
    }
    assert!(searches.iter().all(|one| open.contains(&one.subnet) || owned.contains(&one.subnet)));
}

/// Whether no subnet around the range may be delegated.
fn is_held_by_blocks_alone(new: &Hierarchy, range: &Range) -> bool {
    let smallest = new.smallest_holding(range);
    let mut around = std::iter::once(smallest).chain(new.ancestors(smallest));
    !around.any(|id| new.subnet(id).may_be_delegated())
}

/// Each pin is of a range with subnets, cedes to another pin, or stays where nothing that may be
/// delegated is left around it; no range has two.
pub(crate) fn check_constraints(new: &Hierarchy, pins: &[Remapping<SubnetId>]) {
    let mut owners = HashMap::new();
    for pin in pins {
        assert_eq!(pin.assigned.len() + pin.ceded.len(), 1, "{pin:?}");
        for range in &pin.assigned {
            let has_subnets = new.find(range).is_some() || new.inside(range).next().is_some();
            let stays_alone = pin.stays() && is_held_by_blocks_alone(new, range);
            assert!(has_subnets || stays_alone, "{pin:?}");
            assert_eq!(owners.insert(*range, pin.claim.key), None, "{range} has two");
        }
    }
    for (range, owner) in pins.iter().flat_map(|pin| &pin.ceded) {
        assert_eq!(owners.get(range), Some(owner), "{range}");
    }
}
