//! The delegation table's crowds are what counting from scratch would give.

use std::collections::BTreeSet;

use delegation::{Delegation, DelegationTable};
use hierarchy::{Hierarchy, SubnetId};
use model::{AgentId, Reason};
use proptest::prelude::*;

use crate::map::{self, agent};
use crate::properties::territory;

fn held_by(
    delegation_table: &DelegationTable,
    subnets: impl Iterator<Item = SubnetId>,
) -> BTreeSet<AgentId> {
    subnets.filter_map(|subnet| delegation_table.agent_of(subnet)).collect()
}

fn check(hierarchy: &Hierarchy, delegation_table: &DelegationTable) {
    for number in 1..6 {
        let held = delegation_table.iter().filter(|(_, held)| held.agent == agent(number));
        assert_eq!(delegation_table.count(agent(number)) as usize, held.count());
    }
    for subnet in hierarchy.iter() {
        let children: Vec<AgentId> = delegation_table.agents_of_children(subnet.id()).collect();
        let inside: Vec<AgentId> = delegation_table.agents_inside(subnet.id()).collect();
        let is_below = |id: &SubnetId| hierarchy.ancestors(*id).any(|other| other == subnet.id());
        let below = hierarchy.iter().map(|other| other.id()).filter(is_below);
        assert_distinct(&children, &held_by(delegation_table, hierarchy.children(subnet.id())));
        assert_distinct(&inside, &held_by(delegation_table, below));
        if let Some(company) = subnet.company() {
            let subnets = hierarchy.iter().filter(|other| other.company() == Some(company));
            let agents: Vec<AgentId> = delegation_table.agents_of_company(company).collect();
            assert_distinct(&agents, &held_by(delegation_table, subnets.map(|other| other.id())));
        }
    }
}

fn assert_distinct(listed: &[AgentId], expected: &BTreeSet<AgentId>) {
    assert_eq!(listed.len(), expected.len(), "{listed:?} {expected:?}");
    assert_eq!(listed.iter().copied().collect::<BTreeSet<_>>(), *expected);
}

proptest! {
    #[test]
    fn crowds_are_counted(
        hierarchy in territory(),
        changes in prop::collection::vec(
            (any::<prop::sample::Index>(), prop::option::weighted(0.7, 1_i64..6)),
            1..40,
        ),
    ) {
        let mut delegation_table = DelegationTable::default();
        for (place, holder) in changes {
            let subnet = SubnetId::new(place.index(hierarchy.len()) as u32);
            match holder {
                Some(number) => {
                    delegation_table.insert(
                        &hierarchy,
                        subnet,
                        Delegation { agent: agent(number), reason: Reason::Lowest },
                    );
                }
                None => {
                    delegation_table.remove(&hierarchy, subnet);
                }
            }
        }
        check(&hierarchy, &delegation_table);
        let again = DelegationTable::of(&hierarchy, delegation_table.iter());
        prop_assert_eq!(again.len(), delegation_table.len());
        for subnet in hierarchy.iter() {
            let order = |delegation_table: &DelegationTable| {
                delegation_table.agents_inside(subnet.id()).collect::<Vec<_>>()
            };
            prop_assert_eq!(
                order(&again),
                order(&delegation_table),
                "the order does not depend on history"
            );
        }
    }
}

#[test]
fn who_held_it_before_is_told() {
    let hierarchy = map::hierarchy(&[("20.0.0.0/8", Some("one"))]);
    let subnet = map::subnet(&hierarchy, "20.0.0.0/8");
    let first = Delegation { agent: agent(1), reason: Reason::Home };
    let second = Delegation { agent: agent(2), reason: Reason::Company };
    let mut delegation_table = DelegationTable::default();
    assert_eq!(delegation_table.insert(&hierarchy, subnet, first), None);
    assert_eq!(delegation_table.insert(&hierarchy, subnet, second), Some(first));
    assert_eq!(delegation_table.get(subnet), Some(second));
    assert_eq!(delegation_table.remove(&hierarchy, subnet), Some(second));
    assert!(delegation_table.is_empty());
}
