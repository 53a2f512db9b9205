//! Open delegation searches: each moves to the subnet of the address that it probes.

use std::collections::HashSet;
use std::net::IpAddr;

use super::successors::successors;
use super::{RangeChange, Remapping};
use crate::range::Range;
use crate::tree::Hierarchy;

/// An open search for an agent for a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SearchClaim<Key> {
    /// The caller's identifier of the search.
    pub key: Key,
    /// The subnet of an older generation that needs an agent.
    pub range: Range,
    /// The address in the range that agents probe.
    pub target: IpAddr,
}

/// The outcome for one open search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchRemapping<Key> {
    /// The search as it was given.
    pub search: SearchClaim<Key>,
    /// What happened to the range of the search.
    pub change: RangeChange,
    /// The subnet of the new generation that the search is for.
    pub subnet: Range,
    /// True where the subnet is delegated already or another search is for it.
    pub redundant: bool,
}

impl<Key> SearchRemapping<Key> {
    /// Whether the search keeps its range.
    pub fn stays(&self) -> bool {
        self.subnet == self.search.range
    }
}

/// Moves each search to the smallest subnet that holds its target, unless its range is still a
/// subnet. `delegations` tells which subnets of the new generation have an agent.
pub(super) fn remap_searches<Key: Copy, Owner>(
    old: Option<&Hierarchy>,
    new: &Hierarchy,
    searches: impl IntoIterator<Item = SearchClaim<Key>>,
    delegations: &[Remapping<Owner>],
) -> Vec<SearchRemapping<Key>> {
    let mut remapped: Vec<_> = searches.into_iter().map(|search| remap(old, new, search)).collect();
    // A provisional delegation does not end a search: the search was opened to improve it.
    let delegated = delegations
        .iter()
        .filter(|one| !one.claim.provisional)
        .flat_map(|one| one.assigned.iter().copied());
    // Searches that stay are never redundant, even in a delegated subnet: they were open there
    // before. Of those that move to the same subnet the first continues.
    let staying = remapped.iter().filter(|one| one.stays()).map(|one| one.subnet);
    let mut taken: HashSet<Range> = delegated.chain(staying).collect();
    for moving in remapped.iter_mut().filter(|one| !one.stays()) {
        moving.redundant = !taken.insert(moving.subnet);
    }
    remapped
}

/// The subnet that may be delegated around an address; where there is none, the smallest block: the
/// search ends at its next step.
fn subnet_of(new: &Hierarchy, address: IpAddr) -> Range {
    let delegable = new.smallest_delegable(address);
    new.subnet(delegable.unwrap_or_else(|| new.smallest(address))).range()
}

fn remap<Key: Copy>(
    old: Option<&Hierarchy>,
    new: &Hierarchy,
    search: SearchClaim<Key>,
) -> SearchRemapping<Key> {
    let (change, _) = successors(old, new, &search.range);
    let subnet = if change.stays() { search.range } else { subnet_of(new, search.target) };
    SearchRemapping { search, change, subnet, redundant: false }
}
