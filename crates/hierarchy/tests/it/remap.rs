//! Remapping of delegations, searches and constraints to the next generation.

use std::collections::{HashMap, HashSet};

use hierarchy::remap::{
    Claim, Plan, RangeChange, RemapCounts, Remapping, SearchClaim, has_company,
    successor_of_company,
};
use hierarchy::{
    Builder, CompanyIndex, Generation, Hierarchy, Range, Record, Registry, Scope, SubnetKind,
};
use proptest::prelude::*;

use crate::records::{build, records};

/// `range company`, or `range` alone for a block.
fn hierarchy(lines: &[&str]) -> Hierarchy {
    let mut companies = CompanyIndex::default();
    let mut builder = Builder::default();
    for line in lines {
        let (range, company) =
            line.rsplit_once(' ').map_or((*line, None), |(range, handle)| (range, Some(handle)));
        let company = company.map(|handle| companies.number(Registry::Arin, handle));
        let kind = if company.is_some() { SubnetKind::Delegated } else { SubnetKind::Block };
        builder.add(Record {
            range: range.parse().unwrap(),
            kind,
            registry: None,
            company,
            country: None,
        });
    }
    builder.build(Generation::new(1), companies.into_companies()).0
}

fn claims(ranges: &[&str]) -> Vec<Claim<usize>> {
    let claim = |(key, range): (usize, &&str)| Claim {
        key,
        range: range.parse().unwrap(),
        rank: 5,
        provisional: false,
    };
    ranges.iter().enumerate().map(claim).collect()
}

const NO_SEARCHES: [SearchClaim<usize>; 0] = [];
const NO_CONSTRAINTS: [Vec<Claim<usize>>; 0] = [];

fn remap_delegations<Key: Copy + Ord>(
    old: Option<&Hierarchy>,
    new: &Hierarchy,
    claims: Vec<Claim<Key>>,
) -> Vec<Remapping<Key>> {
    Plan::of(old, new, claims, NO_SEARCHES, NO_CONSTRAINTS).delegations
}

/// One line for each range: how it changed, what it gets, what it cedes to which claim.
fn described(old: &[&str], new: &[&str], ranges: &[&str]) -> Vec<String> {
    let line = |one: Remapping<usize>| {
        let assigned: Vec<_> = one.assigned.iter().map(Range::to_string).collect();
        let ceded: Vec<_> =
            one.ceded.iter().map(|(range, to)| format!("; {range} is {to}'s")).collect();
        format!("{} {}: {}{}", one.claim.range, one.change, assigned.join(", "), ceded.concat())
    };
    let remapped = remap_delegations(Some(&hierarchy(old)), &hierarchy(new), claims(ranges));
    remapped.into_iter().map(line).collect()
}

#[test]
fn every_change_of_a_range_is_recognised() {
    let old = [
        "10.0.0.0/8",
        "10.0.0.0/16 a",
        "10.1.0.0/16 b",
        "10.2.0.0/16 c",
        "10.3.0.0/16 d",
        "10.4.0.0/17 e",
        "10.5.0.0/16 f",
        "10.5.1.0/24 g",
    ];
    let new = [
        "10.0.0.0/8",
        "10.0.0.0/16 a",
        "10.1.0.0/16 z",
        "10.2.0.0/17 c",
        "10.2.128.0/18 c",
        "10.2.128.0/24 y",
        "10.4.0.0/16 e",
        "10.5.0.0/16 f",
    ];
    let ranges =
        ["10.0.0.0/16", "10.1.0.0/16", "10.2.0.0/16", "10.3.0.0/16", "10.4.0.0/17", "10.5.1.0/24"];
    let expected = [
        "10.0.0.0/16 same: 10.0.0.0/16",
        "10.1.0.0/16 transferred: 10.1.0.0/16",
        "10.2.0.0/16 split: 10.2.0.0/17, 10.2.128.0/18",
        "10.3.0.0/16 vanished: ",
        "10.4.0.0/17 merged: 10.4.0.0/16",
        "10.5.1.0/24 vanished: 10.5.0.0/16",
    ];
    assert_eq!(described(&old, &new, &ranges), expected);
}

#[test]
fn of_two_claims_to_a_subnet_the_one_with_its_range_wins_and_else_the_smaller_rank() {
    let old = ["10.0.0.0/9 a", "10.128.0.0/9 b", "11.0.0.0/8 c", "11.1.0.0/16 d"];
    let new = ["10.0.0.0/8 a", "11.0.0.0/8 c"];
    let ranges = ["10.0.0.0/9", "10.128.0.0/9", "11.1.0.0/16", "11.0.0.0/8"];
    let expected = [
        "10.0.0.0/9 merged: 10.0.0.0/8",
        "10.128.0.0/9 merged: ; 10.0.0.0/8 is 0's",
        "11.1.0.0/16 vanished: ; 11.0.0.0/8 is 3's",
        "11.0.0.0/8 same: 11.0.0.0/8",
    ];
    assert_eq!(described(&old, &new, &ranges), expected);
    let mut ranked = claims(&ranges);
    ranked[1].rank = 1;
    let remapped = remap_delegations(None, &hierarchy(&new), ranked);
    assert_eq!((remapped[0].assigned.len(), remapped[1].assigned.len()), (0, 1));
    assert_eq!(RemapCounts::of(&remapped).yielded, 2);
    assert_eq!(
        RemapCounts::of(&remapped).to_string(),
        "1 same, 0 transferred, 0 split, 3 merged, 0 vanished, 2 of them yielded to another"
    );
}

#[test]
fn a_constraint_applies_to_the_subnets_inside_its_range() {
    let old = hierarchy(&[
        "10.0.0.0/8",
        "10.0.0.0/16 a",
        "10.2.0.0/16 c",
        "10.4.0.0/16 e",
        "10.5.0.0/16 f",
        "10.5.1.0/24 g",
        "10.6.0.0/16 h",
    ]);
    let new = hierarchy(&[
        "10.0.0.0/8",
        "10.0.0.0/16 a",
        "10.2.0.0/17 c",
        "10.2.128.0/17 d",
        "10.4.0.0/15 e",
    ]);
    let ranges = [
        "10.0.0.0/16",
        // Its parts lie in it.
        "10.2.0.0/16",
        // Wider than any subnet, before and now.
        "10.0.0.0/14",
        // Never had a subnet.
        "10.9.0.0/16",
        // Both went into the larger one, which one of them gets.
        "10.4.0.0/16",
        "10.5.1.0/24",
        // Only a block with many holders is left around it.
        "10.6.0.0/16",
    ];
    let remap_constraints = |old| {
        let no_claims = std::iter::empty::<Claim<usize>>();
        Plan::of(old, &new, no_claims, NO_SEARCHES, [claims(&ranges)]).constraints
    };
    let remapped: Vec<_> = remap_constraints(Some(&old))
        .into_iter()
        .map(|one| (one.change, one.assigned.first().map(Range::to_string), one.ceded.len()))
        .collect();
    let at = |range: &str| Some(range.to_owned());
    let unknown = remap_constraints(None);
    assert!(unknown.iter().all(|one| one.stays() && one.change == RangeChange::Same));
    let expected = [
        (RangeChange::Same, at("10.0.0.0/16"), 0),
        (RangeChange::Split, at("10.2.0.0/16"), 0),
        (RangeChange::Same, at("10.0.0.0/14"), 0),
        (RangeChange::Same, at("10.9.0.0/16"), 0),
        (RangeChange::Merged, at("10.4.0.0/15"), 0),
        (RangeChange::Merged, None, 1),
        (RangeChange::Same, at("10.6.0.0/16"), 0),
    ];
    assert_eq!(remapped, expected);
}

fn search_claims(of: &[(&str, &str)]) -> Vec<SearchClaim<usize>> {
    let claim = |(key, (range, target)): (usize, &(&str, &str))| SearchClaim {
        key,
        range: range.parse().unwrap(),
        target: target.parse().unwrap(),
    };
    of.iter().enumerate().map(claim).collect()
}

#[test]
fn a_search_moves_with_its_target_and_ends_where_it_is_redundant() {
    let old = hierarchy(&[
        "10.0.0.0/8",
        "10.0.0.0/16 a",
        "10.1.0.0/16 b",
        "10.2.0.0/16 c",
        "10.3.0.0/16 d",
        "10.4.0.0/16 e",
    ]);
    let new = hierarchy(&[
        "10.0.0.0/8",
        "10.0.0.0/16 a",
        "10.1.0.0/17 b",
        "10.2.0.0/15 c",
        "10.4.0.0/16 e",
    ]);
    let searches = search_claims(&[
        ("10.0.0.0/16", "10.0.0.1"),
        ("10.1.0.0/16", "10.1.0.1"),
        ("10.2.0.0/16", "10.2.0.1"),
        ("10.3.0.0/16", "10.3.0.1"),
        ("10.4.0.0/16", "10.4.0.1"),
    ]);
    // The first search that moves is redundant because of a delegation, unless that is
    // provisional; the last is redundant because of the search before it.
    for (provisional, first_is_redundant) in [(false, true), (true, false)] {
        let mut claim = claims(&["10.1.0.0/16", "10.4.0.0/16"]);
        for one in &mut claim {
            one.provisional = provisional;
        }
        let plan = Plan::of(Some(&old), &new, claim, searches.clone(), NO_CONSTRAINTS);
        let remapped: Vec<_> = plan
            .searches
            .iter()
            .map(|one| (one.change, one.subnet.to_string(), one.redundant))
            .collect();
        let expected = [
            (RangeChange::Same, "10.0.0.0/16", false),
            (RangeChange::Split, "10.1.0.0/17", first_is_redundant),
            (RangeChange::Merged, "10.2.0.0/15", false),
            (RangeChange::Merged, "10.2.0.0/15", true),
            // Delegated already, but so it was before.
            (RangeChange::Same, "10.4.0.0/16", false),
        ];
        let expected =
            expected.map(|(change, subnet, redundant)| (change, subnet.to_owned(), redundant));
        assert_eq!(remapped, expected);
        assert!(!plan.is_unchanged());
        assert!(
            Plan::of(Some(&old), &old, claims(&["10.1.0.0/16"]), searches.clone(), NO_CONSTRAINTS)
                .is_unchanged()
        );
    }
}

proptest! {
    /// Whatever changed: a subnet has one open search at most, and that is for a subnet that holds
    /// its target.
    #[test]
    fn no_subnet_is_searched_for_twice(old in records(), new in records()) {
        let (old, _) = build(&old);
        let (new, _) = build(&new);
        let searches: Vec<_> = old
            .iter()
            .map(|subnet| SearchClaim {
                key: subnet.id(),
                range: subnet.range(),
                target: subnet.range().last(),
            })
            .collect();
        let no_claims = std::iter::empty::<Claim<usize>>();
        let plan = Plan::of(Some(&old), &new, no_claims, searches.clone(), NO_CONSTRAINTS);
        prop_assert_eq!(plan.searches.len(), searches.len());
        let mut open = HashSet::new();
        for one in &plan.searches {
            prop_assert!(one.subnet.contains(one.search.target));
            prop_assert!(new.find(&one.subnet).is_some());
            prop_assert!(one.redundant || open.insert(one.subnet), "{:?}", one);
        }
        // A redundant search has another in its place.
        prop_assert!(plan.searches.iter().all(|one| open.contains(&one.subnet)));
    }

    /// Whatever changed between two generations: each claim has an outcome, each subnet has one
    /// owner, and a claim whose range is still a subnet stays.
    #[test]
    fn no_claim_is_lost_and_no_subnet_assigned_twice(
        old in records(),
        new in records(),
        ranks in proptest::collection::vec(0..3_u64, 100),
    ) {
        let (old, _) = build(&old);
        let (new, _) = build(&new);
        let claim = |(subnet, rank): (hierarchy::Subnet<'_>, &u64)| Claim {
            key: subnet.id(),
            range: subnet.range(),
            rank: *rank,
            provisional: false,
        };
        let delegable = old.iter().filter(hierarchy::Subnet::may_be_delegated);
        let claims: Vec<_> = delegable.zip(ranks.iter().cycle()).map(claim).collect();
        let remapped = remap_delegations(Some(&old), &new, claims.clone());
        prop_assert_eq!(RemapCounts::of(&remapped).total(), claims.len() as u64);
        let mut owners = HashMap::new();
        for one in &remapped {
            let around = new.iter().any(|subnet| {
                subnet.may_be_delegated() && subnet.range().contains_range(&one.claim.range)
            });
            let successors = match one.change {
                RangeChange::Split => new.inside(&one.claim.range).count(),
                _ => usize::from(around),
            };
            prop_assert!(successors > 0 || one.change == RangeChange::Vanished);
            prop_assert_eq!(one.assigned.len() + one.ceded.len(), successors);
            prop_assert!(!one.change.stays() || one.stays(), "{one:?}");
            prop_assert!(
                one.change.stays()
                    || one.change == RangeChange::Split
                    || one.stays()
                    || new.find_delegable(&one.claim.range).is_none()
            );
            for range in &one.assigned {
                prop_assert!(new.find(range).is_some());
                prop_assert_eq!(owners.insert(*range, one.claim.key), None);
                let nested = match one.change {
                    RangeChange::Split => one.claim.range.contains_range(range),
                    _ => range.contains_range(&one.claim.range),
                };
                prop_assert!(nested, "{one:?}");
            }
        }
        for (range, key) in remapped.iter().flat_map(|one| &one.ceded) {
            prop_assert_eq!(owners.get(range), Some(key));
        }
        let mut reversed = remap_delegations(Some(&old), &new, claims.into_iter().rev().collect());
        reversed.reverse();
        prop_assert_eq!(reversed, remapped);
    }

    #[test]
    fn the_subnets_inside_a_range_are_those_of_the_model(
        records in records(),
        wanted in crate::records::record(),
    ) {
        let (hierarchy, _) = build(&records);
        let range = wanted.range;
        let fits = |id: hierarchy::SubnetId| {
            let subnet = hierarchy.subnet(id);
            subnet.may_be_delegated() && range.contains_range(&subnet.range())
        };
        let outermost = |id: &hierarchy::SubnetId| fits(*id) && !hierarchy.ancestors(*id).any(fits);
        let ids = hierarchy.iter().map(|subnet| subnet.id());
        let expected: Vec<_> = ids.filter(outermost).collect();
        prop_assert_eq!(hierarchy.inside(&range).collect::<Vec<_>>(), expected);
        let scope = Scope::Range(range);
        let ids = hierarchy.iter().map(|subnet| subnet.id());
        let covered: Vec<_> = ids.filter(|id| fits(*id)).collect();
        prop_assert_eq!(scope.subnets(&hierarchy).collect::<Vec<_>>(), covered);
    }
}

#[test]
fn a_company_without_its_handle_goes_on_where_most_of_its_addresses_are() {
    let old = ["198.51.100.0/24 a1b2", "203.0.113.0/25 a1b2", "203.0.113.128/25 a1b2"];
    let old = hierarchy(&[&old[..], &["192.0.2.0/24 west"]].concat());
    let scope = Scope::Company { registry: Registry::Arin, handle: "a1b2".into() };
    let becomes = |new: &[&str]| {
        let new = hierarchy(new);
        assert!(has_company(&old, &scope) && !has_company(&new, &scope));
        successor_of_company(&old, &new, &scope).map(|(_, handle)| handle)
    };
    let sold = ["198.51.100.0/24 ORG-A", "203.0.113.0/25 buyer", "192.0.2.0/24 west"];
    assert_eq!(becomes(&sold).unwrap(), "ORG-A");
    let split = ["198.51.100.0/25 ORG-A", "198.51.100.128/25 ORG-A", "203.0.113.0/25 buyer"];
    assert_eq!(becomes(&split).unwrap(), "ORG-A");
    assert_eq!(becomes(&["198.51.0.0/16 provider", "192.0.2.0/24 west"]), None);
}
