//! Successors of a range: the subnets of a new generation that replace it.

use std::iter;

use super::{Claim, RangeChange};
use crate::company::Company;
use crate::id::SubnetId;
use crate::range::Range;
use crate::registry::Registry;
use crate::tree::Hierarchy;

/// A claim with the subnets that it may get.
#[derive(Debug, Clone)]
pub(super) struct Candidate<Key> {
    pub(super) claim: Claim<Key>,
    pub(super) change: RangeChange,
    /// Successors of the claim's range in address order; none where only blocks and roots hold it.
    pub(super) successors: Vec<Range>,
}

impl<Key> Candidate<Key> {
    pub(super) fn new(old: Option<&Hierarchy>, new: &Hierarchy, claim: Claim<Key>) -> Self {
        let (change, mut successors) = successors(old, new, &claim.range);
        successors.retain(|range| new.find_delegable(range).is_some());
        // Nothing may be delegated in place of the range, so that it counts as vanished.
        let change = if successors.is_empty() { RangeChange::Vanished } else { change };
        Self { claim, change, successors }
    }
}

/// The subnets of `new` that replace the range: itself where it is still a subnet, else the largest
/// subnets inside it that may be delegated, else the smallest such subnet around it, else the
/// smallest block around it.
///
/// Without the `old` generation a transfer looks like no change, and a vanished range whose
/// surrounding subnet is delegated looks like a merger.
pub(super) fn successors(
    old: Option<&Hierarchy>,
    new: &Hierarchy,
    range: &Range,
) -> (RangeChange, Vec<Range>) {
    let before = old.and_then(|old| Some((old, old.find(range)?)));
    if let Some(same) = new.find(range).filter(|same| !became_block(before, new, *same)) {
        // Blocks have no company, so that a change of holder means something only where the range
        // is delegated in one of the two generations.
        let transferred = before.is_some_and(|(old, id)| {
            (may_be_delegated(old, id) || may_be_delegated(new, same))
                && holder(old, id) != holder(new, same)
        });
        let change = if transferred { RangeChange::Transferred } else { RangeChange::Same };
        return (change, vec![*range]);
    }
    // A block only grouped subnets of others, so that what lies in it does not replace it.
    let was_block = before.is_some_and(|(old, id)| !may_be_delegated(old, id));
    let parts: Vec<Range> = new.inside(range).map(|id| new.subnet(id).range()).collect();
    if !parts.is_empty() && !was_block {
        return (RangeChange::Split, parts);
    }
    let smallest = new.smallest_holding(range);
    // Between a range and the record around it there may be a block.
    let delegable =
        iter::once(smallest).chain(new.ancestors(smallest)).find(|id| may_be_delegated(new, *id));
    let around = new.subnet(delegable.unwrap_or(smallest));
    // A surrounding subnet that was there before did not absorb the range: the range was removed.
    let was_delegated = old
        .is_some_and(|old| old.find(&around.range()).is_some_and(|id| may_be_delegated(old, id)));
    let merged = may_be_delegated(new, around.id()) && !was_delegated;
    let change = if merged { RangeChange::Merged } else { RangeChange::Vanished };
    (change, vec![around.range()])
}

/// Whether the range was delegated and now only groups subnets of others.
fn became_block(before: Option<(&Hierarchy, SubnetId)>, new: &Hierarchy, id: SubnetId) -> bool {
    before.is_some_and(|(old, id)| may_be_delegated(old, id)) && !may_be_delegated(new, id)
}

fn may_be_delegated(hierarchy: &Hierarchy, id: SubnetId) -> bool {
    hierarchy.subnet(id).may_be_delegated()
}

/// Registry and company by handle, which can be compared between generations; company ids cannot.
fn holder(hierarchy: &Hierarchy, id: SubnetId) -> (Option<Registry>, Option<(Registry, &str)>) {
    let subnet = hierarchy.subnet(id);
    let company = subnet.company().and_then(|id| hierarchy.company(id));
    (subnet.registry(), company.map(|Company { registry, handle, .. }| (registry, handle)))
}
