//! Addresses of a region: the delegation table as disjoint ranges.

use std::collections::HashMap;

use model::AgentId;
use region::delegations::{Change, Delegate, Delegations, Range};

use crate::runtime::delegated_hierarchy::DelegatedHierarchy;

/// A subnet with the agent to which it is delegated, if any.
pub(super) type SubnetWithAgent = (hierarchy::Range, Option<AgentId>);

/// Every delegated subnet, and the subnets directly inside one that are not delegated: those are
/// searched for on their own, and may go to any agent.
pub(super) fn held(delegated: &DelegatedHierarchy) -> Vec<SubnetWithAgent> {
    let hierarchy = delegated.hierarchy();
    let table = delegated.delegation_table();
    let mut held = Vec::new();
    for (subnet, delegation) in table.iter() {
        held.push((hierarchy.subnet(subnet).range(), Some(delegation.agent)));
        let children = hierarchy.children(subnet).filter(|child| table.agent_of(*child).is_none());
        held.extend(children.map(|child| (hierarchy.subnet(child).range(), None)));
    }
    held
}

/// Disjoint ranges of the agents for which `is_member` holds: an address belongs to the smallest
/// subnet around it.
pub(super) fn flatten(
    held: Vec<SubnetWithAgent>,
    is_member: impl Fn(AgentId) -> bool,
) -> Vec<(Range, Delegate)> {
    let of_member = |(range, agent): (hierarchy::Range, Option<AgentId>)| {
        let agent = agent.filter(|agent| is_member(*agent))?;
        Some((Range { first: range.first(), last: range.last() }, Delegate::Agent(agent)))
    };
    hierarchy::flatten(held).into_iter().filter_map(of_member).collect()
}

/// Changes that lead from the ranges of a view to those that are wanted. Ranges are removed before
/// others are set in their place.
pub(super) fn changes(present: &Delegations, wanted: &[(Range, Delegate)]) -> Vec<Change> {
    // Looked up, because a region may have a hundred thousand ranges.
    let wanted_delegates: HashMap<Range, Delegate> = wanted.iter().copied().collect();
    let present_delegates: HashMap<Range, Delegate> = present.iter().collect();
    let is_outdated =
        |(range, delegate): &(Range, Delegate)| wanted_delegates.get(range) != Some(delegate);
    let removed = present.iter().filter(is_outdated).map(|(range, _)| Change::Remove(range));
    let new =
        wanted.iter().filter(|(range, delegate)| present_delegates.get(range) != Some(delegate));
    removed.chain(new.map(|(range, delegate)| Change::Set(*range, *delegate))).collect()
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::*;

    fn range(first: u32, last: u32) -> hierarchy::Range {
        let address = |number: u32| IpAddr::V4(number.into());
        hierarchy::Range::new(address(first), address(last)).unwrap()
    }

    fn flat(held: &[(u32, u32, i64)]) -> Vec<(u32, u32, i64)> {
        let held = held.iter().map(|(first, last, agent)| {
            (range(*first, *last), (*agent > 0).then_some(AgentId::new(*agent)))
        });
        let number = |address| match address {
            IpAddr::V4(v4) => u32::from(v4),
            IpAddr::V6(_) => 0,
        };
        let ranges = flatten(held.collect(), |agent| agent.get() < 10);
        assert!(Delegations::new(ranges.iter().copied()).is_ok(), "{ranges:?}");
        ranges
            .into_iter()
            .map(|(range, delegate)| match delegate {
                Delegate::Agent(agent) => (number(range.first), number(range.last), agent.get()),
                Delegate::Spread => (0, 0, 0),
            })
            .collect()
    }

    #[test]
    fn the_smallest_subnet_around_an_address_counts() {
        assert_eq!(flat(&[(1, 100, 1)]), [(1, 100, 1)]);
        assert_eq!(
            flat(&[(1, 100, 1), (10, 19, 2), (15, 16, 3)]),
            [(1, 9, 1), (10, 14, 2), (15, 16, 3), (17, 19, 2), (20, 100, 1)]
        );
        assert_eq!(flat(&[(1, 100, 1), (50, 100, 2)]), [(1, 49, 1), (50, 100, 2)]);
        assert_eq!(flat(&[(1, 100, 1), (1, 50, 2)]), [(1, 50, 2), (51, 100, 1)]);
        assert_eq!(flat(&[(1, 9, 1), (10, 19, 2)]), [(1, 9, 1), (10, 19, 2)]);
        assert_eq!(flat(&[(0, u32::MAX, 1), (9, u32::MAX, 2)]), [(0, 8, 1), (9, u32::MAX, 2)]);
    }

    #[test]
    fn subnets_of_strangers_and_of_nobody_are_left_out() {
        let held = [(1, 100, 1), (10, 19, 11), (30, 39, 0), (200, 300, 12), (210, 220, 2)];
        assert_eq!(flat(&held), [(1, 9, 1), (20, 29, 1), (40, 100, 1), (210, 220, 2)]);
    }

    #[test]
    fn changes_lead_from_one_state_to_the_other() {
        let of = |held: &[(u32, u32, i64)]| {
            let held = held
                .iter()
                .map(|(first, last, agent)| (range(*first, *last), Some(AgentId::new(*agent))));
            flatten(held.collect(), |_| true)
        };
        let before = of(&[(1, 100, 1), (200, 300, 2)]);
        let wanted = of(&[(1, 100, 1), (50, 60, 2), (200, 300, 1), (400, 500, 3)]);
        let mut delegations = Delegations::new(before).unwrap();
        let changes = changes(&delegations, &wanted);
        for change in changes {
            delegations.apply(change).unwrap();
        }
        assert_eq!(delegations.iter().collect::<Vec<_>>(), wanted);
        assert!(super::changes(&delegations, &wanted).is_empty());
    }
}
