//! Whether an answer is right, found out another way than by the code that gave it.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;

use hierarchy::remap::{RangeChange, Remapping, SearchRemapping};
use hierarchy::{Hierarchy, Range, SubnetId, SubnetKind};

/// What somebody holds in a generation. Delegated files are flat: hardly any range lies in another,
/// and of those that begin together one is enough to look for neighbours.
pub(crate) struct Held<'h> {
    hierarchy: &'h Hierarchy,
    ranges: BTreeMap<(bool, IpAddr), Range>,
    holders: HashMap<Range, String>,
}

impl<'h> Held<'h> {
    pub(crate) fn of(hierarchy: &'h Hierarchy) -> Self {
        let held = hierarchy.iter().filter(|subnet| subnet.kind() == SubnetKind::Delegated);
        let entry = |subnet: hierarchy::Subnet<'_>| {
            let range = subnet.range();
            let company = subnet.company().and_then(|id| hierarchy.company(id));
            let holder =
                format!("{:?} {:?}", subnet.registry(), company.map(|c| (c.registry, c.handle)));
            (range, holder)
        };
        let held: Vec<(Range, String)> = held.map(entry).collect();
        let ranges =
            held.iter().map(|(range, _)| ((range.is_v4(), range.first()), *range)).collect();
        Self { hierarchy, ranges, holders: held.into_iter().collect() }
    }

    pub(crate) fn ranges(&self) -> impl Iterator<Item = Range> {
        self.ranges.values().copied()
    }

    /// What is held wholly inside a range.
    fn inside(&self, range: &Range) -> Vec<Range> {
        let v4 = range.is_v4();
        let begun = self.ranges.range((v4, range.first())..=(v4, range.last()));
        begun.map(|(_, there)| *there).filter(|there| range.contains_range(there)).collect()
    }

    /// The held range that begins last at or before another begins, when it holds all of it.
    fn around(&self, range: &Range) -> Option<Range> {
        let before = self.ranges.range(..=(range.is_v4(), range.first())).next_back();
        before.map(|(_, there)| *there).filter(|there| there.contains_range(range))
    }

    fn holder(&self, range: &Range) -> Option<&str> {
        self.holders.get(range).map(String::as_str)
    }

    /// Nothing smaller holds all of it.
    fn is_smallest(&self, place: &Range, range: &Range) -> bool {
        let id = self.hierarchy.find(place).unwrap();
        place.contains_range(range)
            && !self
                .hierarchy
                .children(id)
                .any(|child| self.hierarchy.subnet(child).range().contains_range(range))
    }
}

/// The places of a claim are those that its fate, by its definition, leads to.
pub(crate) fn says_why(old: &Held<'_>, new: &Held<'_>, one: &Remapping<SubnetId>) {
    let range = one.claim.range;
    let mut places: Vec<Range> =
        one.assigned.iter().copied().chain(one.ceded.iter().map(|(place, _)| *place)).collect();
    places.sort();
    let right = match one.change {
        RangeChange::Same => places == [range] && new.holder(&range) == old.holder(&range),
        RangeChange::Transferred => {
            places == [range]
                && new.holder(&range).is_some()
                && new.holder(&range) != old.holder(&range)
        }
        RangeChange::Split => {
            new.holder(&range).is_none() && !places.is_empty() && places == new.inside(&range)
        }
        RangeChange::Merged => {
            let around = new.around(&range).unwrap();
            around != range && places == [around] && old.holder(&around).is_none()
        }
        RangeChange::Vanished => {
            // What lies in a block is not its parts.
            (new.inside(&range).is_empty() || old.holder(&range).is_none())
                && new.around(&range).is_none()
                && new.is_smallest(&places[0], &range)
                && places.len() == 1
        }
    };
    assert!(right, "{one:?}: {:?}, then {:?}", old.holder(&range), new.holder(&range));
}

/// Each has a place, or names who has it; no place has two.
pub(crate) fn one_owner_each(new: &Hierarchy, carried: &[Remapping<SubnetId>]) {
    let mut owners = HashMap::new();
    for one in carried {
        assert!(!one.assigned.is_empty() || !one.ceded.is_empty());
        for range in &one.assigned {
            assert!(new.find(range).is_some(), "{range}");
            assert_eq!(owners.insert(*range, one.claim.key), None, "{range} has two");
        }
    }
    for (range, owner) in carried.iter().flat_map(|one| &one.ceded) {
        assert_eq!(owners.get(range), Some(owner), "{range}");
    }
}

/// Each search is about a subnet that holds its target, and no subnet has two that go on.
pub(crate) fn searches_go_on(
    new: &Held<'_>,
    followed: &[SearchRemapping<SubnetId>],
    carried: &[Remapping<SubnetId>],
) {
    let owned: std::collections::HashSet<Range> =
        carried.iter().flat_map(|one| one.assigned.iter().copied()).collect();
    let mut open = std::collections::HashSet::new();
    for one in followed {
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
    assert!(followed.iter().all(|one| open.contains(&one.subnet) || owned.contains(&one.subnet)));
}

/// Each pin lies where subnets are, or yields to another that does; no range has two.
pub(crate) fn pins_count_for_something(new: &Hierarchy, pins: &[Remapping<SubnetId>]) {
    let mut owners = HashMap::new();
    for pin in pins {
        assert_eq!(pin.assigned.len() + pin.ceded.len(), 1, "{pin:?}");
        for range in &pin.assigned {
            assert!(new.find(range).is_some() || new.inside(range).next().is_some(), "{pin:?}");
            assert_eq!(owners.insert(*range, pin.claim.key), None, "{range} has two");
        }
    }
    for (range, owner) in pins.iter().flat_map(|pin| &pin.ceded) {
        assert_eq!(owners.get(range), Some(owner), "{range}");
    }
}
