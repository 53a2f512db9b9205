//! The book's crowds are what counting from scratch would give.

use std::collections::BTreeSet;

use delegation::{Book, Holding, Reason};
use hierarchy::{Hierarchy, SubnetId};
use proptest::prelude::*;
use protocol::AgentId;

use crate::map::{self, agent};
use crate::properties::territory;

fn held_by(book: &Book, subnets: impl Iterator<Item = SubnetId>) -> BTreeSet<AgentId> {
    subnets.filter_map(|subnet| book.agent_of(subnet)).collect()
}

fn check(hierarchy: &Hierarchy, book: &Book) {
    for subnet in hierarchy.iter() {
        let children: Vec<AgentId> = book.agents_of_children(subnet.id()).collect();
        let inside: Vec<AgentId> = book.agents_inside(subnet.id()).collect();
        let below = SubnetId::each(hierarchy.descendants(subnet.id()));
        assert_distinct(&children, &held_by(book, hierarchy.children(subnet.id())));
        assert_distinct(&inside, &held_by(book, below));
        if let Some(company) = subnet.company() {
            let agents: Vec<AgentId> = book.agents_of_company(company).collect();
            assert_distinct(
                &agents,
                &held_by(book, hierarchy.company_subnets(company).iter().copied()),
            );
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
        changes in prop::collection::vec((any::<prop::sample::Index>(), prop::option::weighted(0.7, 1_i64..6)), 1..40),
    ) {
        let mut book = Book::default();
        for (place, holder) in changes {
            let subnet = SubnetId::new(place.index(hierarchy.len()) as u32);
            match holder {
                Some(number) => {
                    book.insert(&hierarchy, subnet, Holding { agent: agent(number), reason: Reason::Lowest });
                }
                None => {
                    book.remove(&hierarchy, subnet);
                }
            }
        }
        check(&hierarchy, &book);
        let again = Book::of(&hierarchy, book.iter());
        prop_assert_eq!(again.len(), book.len());
        for subnet in hierarchy.iter() {
            let order = |book: &Book| book.agents_inside(subnet.id()).collect::<Vec<_>>();
            prop_assert_eq!(order(&again), order(&book), "the order does not depend on history");
        }
    }
}

#[test]
fn who_held_it_before_is_told() {
    let hierarchy = map::hierarchy(&[("20.0.0.0/8", Some("one"))]);
    let subnet = map::subnet(&hierarchy, "20.0.0.0/8");
    let first = Holding { agent: agent(1), reason: Reason::Home };
    let second = Holding { agent: agent(2), reason: Reason::Company };
    let mut book = Book::default();
    assert_eq!(book.insert(&hierarchy, subnet, first), None);
    assert_eq!(book.insert(&hierarchy, subnet, second), Some(first));
    assert_eq!(book.holding(subnet), Some(second));
    assert_eq!(book.remove(&hierarchy, subnet), Some(second));
    assert!(book.is_empty());
}
