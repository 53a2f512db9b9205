//! What was tied to a range finds its place in the next generation.

use hierarchy::carry::{Census, Claim, Fate, Plan, Quest, place, settle, steer};
use hierarchy::{
    Builder, CompanyIndex, Generation, Hierarchy, Range, Record, Registry, SubnetKind,
};
use proptest::prelude::*;

use crate::world::{build, records};

/// `range company`, or `range` alone for a block.
fn hierarchy(lines: &[&str]) -> Hierarchy {
    let mut companies = CompanyIndex::default();
    let mut builder = Builder::default();
    for line in lines {
        let (range, company) =
            line.rsplit_once(' ').map_or((*line, None), |(range, who)| (range, Some(who)));
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

fn told(old: &[&str], new: &[&str], ranges: &[&str]) -> Vec<String> {
    let carried = settle(place(Some(&hierarchy(old)), &hierarchy(new), claims(ranges)));
    let line = |one: hierarchy::carry::Carried<usize>| {
        let gets: Vec<_> = one.gets.iter().map(Range::to_string).collect();
        let yields: Vec<_> =
            one.yields.iter().map(|(range, to)| format!("; {range} is {to}'s")).collect();
        format!("{} {}: {}{}", one.claim.range, one.fate, gets.join(", "), yields.concat())
    };
    carried.into_iter().map(line).collect()
}

#[test]
fn every_fate_is_told() {
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
        "10.3.0.0/16 vanished: 10.0.0.0/8",
        "10.4.0.0/17 merged: 10.4.0.0/16",
        "10.5.1.0/24 vanished: 10.5.0.0/16",
    ];
    assert_eq!(told(&old, &new, &ranges), expected);
}

#[test]
fn where_two_meet_the_owner_of_the_range_stays_and_else_the_rank_decides() {
    let old = ["10.0.0.0/9 a", "10.128.0.0/9 b", "11.0.0.0/8 c", "11.1.0.0/16 d"];
    let new = ["10.0.0.0/8 a", "11.0.0.0/8 c"];
    let ranges = ["10.0.0.0/9", "10.128.0.0/9", "11.1.0.0/16", "11.0.0.0/8"];
    let expected = [
        "10.0.0.0/9 merged: 10.0.0.0/8",
        "10.128.0.0/9 merged: ; 10.0.0.0/8 is 0's",
        "11.1.0.0/16 vanished: ; 11.0.0.0/8 is 3's",
        "11.0.0.0/8 same: 11.0.0.0/8",
    ];
    assert_eq!(told(&old, &new, &ranges), expected);
    let mut ranked = claims(&ranges);
    ranked[1].rank = 1;
    let carried = settle(place(None, &hierarchy(&new), ranked));
    assert_eq!((carried[0].gets.len(), carried[1].gets.len()), (0, 1));
    assert_eq!(Census::of(&carried).yielded, 2);
    assert_eq!(
        Census::of(&carried).to_string(),
        "1 same, 0 transferred, 0 split, 3 merged, 0 vanished, 2 of them yielded to another"
    );
}

const NO_RULES: [Vec<Claim<usize>>; 0] = [];

#[test]
fn what_was_said_of_a_range_counts_for_what_lies_in_it() {
    let old = hierarchy(&[
        "10.0.0.0/8",
        "10.0.0.0/16 a",
        "10.2.0.0/16 c",
        "10.4.0.0/16 e",
        "10.5.0.0/16 f",
        "10.5.1.0/24 g",
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
    ];
    let told: Vec<_> = steer(Some(&old), &new, claims(&ranges))
        .into_iter()
        .map(|one| (one.fate, one.gets.first().map(Range::to_string), one.yields.len()))
        .collect();
    let at = |range: &str| Some(range.to_owned());
    let unknown = steer(None, &new, claims(&ranges));
    assert!(unknown.iter().all(|one| one.stays() && one.fate == Fate::Same));
    let expected = [
        (Fate::Same, at("10.0.0.0/16"), 0),
        (Fate::Split, at("10.2.0.0/16"), 0),
        (Fate::Same, at("10.0.0.0/14"), 0),
        (Fate::Same, at("10.9.0.0/16"), 0),
        (Fate::Merged, at("10.4.0.0/15"), 0),
        (Fate::Merged, None, 1),
    ];
    assert_eq!(told, expected);
}

fn quests(of: &[(&str, &str)]) -> Vec<Quest<usize>> {
    let quest = |(key, (range, target)): (usize, &(&str, &str))| Quest {
        key,
        range: range.parse().unwrap(),
        target: target.parse().unwrap(),
    };
    of.iter().enumerate().map(quest).collect()
}

#[test]
fn a_search_follows_its_target_and_ends_where_it_is_not_needed() {
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
    let searches = quests(&[
        ("10.0.0.0/16", "10.0.0.1"),
        ("10.1.0.0/16", "10.1.0.1"),
        ("10.2.0.0/16", "10.2.0.1"),
        ("10.3.0.0/16", "10.3.0.1"),
        ("10.4.0.0/16", "10.4.0.1"),
    ]);
    // The first of those that move is beaten by a delegation, unless that is provisional, the last
    // by the one before.
    for (provisional, first_is_over) in [(false, true), (true, false)] {
        let mut claim = claims(&["10.1.0.0/16", "10.4.0.0/16"]);
        for one in &mut claim {
            one.provisional = provisional;
        }
        let plan = Plan::of(Some(&old), &new, claim, searches.clone(), NO_RULES);
        let told: Vec<_> =
            plan.searches.iter().map(|one| (one.fate, one.place.to_string(), one.over)).collect();
        let expected = [
            (Fate::Same, "10.0.0.0/16", false),
            (Fate::Split, "10.1.0.0/17", first_is_over),
            (Fate::Merged, "10.2.0.0/15", false),
            (Fate::Merged, "10.2.0.0/15", true),
            // It has an agent already; that was so before.
            (Fate::Same, "10.4.0.0/16", false),
        ];
        assert_eq!(told, expected.map(|(fate, place, over)| (fate, place.to_owned(), over)));
        assert!(!plan.is_idle());
        assert!(
            Plan::of(Some(&old), &old, claims(&["10.1.0.0/16"]), searches.clone(), NO_RULES)
                .is_idle()
        );
    }
}

proptest! {
    /// Whatever changed: a subnet has one open search at most, and that is about a subnet that
    /// holds its target.
    #[test]
    fn no_subnet_is_searched_for_twice(old in records(), new in records()) {
        let ((old, _), (new, _)) = (build(&old), build(&new));
        let quests: Vec<_> = old.iter().map(|subnet| Quest { key: subnet.id(), range: subnet.range(), target: subnet.range().last() }).collect();
        let claims = std::iter::empty::<Claim<usize>>();
        let plan = Plan::of(Some(&old), &new, claims, quests.clone(), NO_RULES);
        prop_assert_eq!(plan.searches.len(), quests.len());
        let mut open = std::collections::HashSet::new();
        for one in &plan.searches {
            prop_assert!(one.place.contains(one.quest.target) && new.find(&one.place).is_some());
            prop_assert!(one.over || open.insert(one.place), "{:?}", one);
        }
        // One that is over has another in its place.
        prop_assert!(plan.searches.iter().all(|one| open.contains(&one.place)));
    }

    /// Whatever changed between two generations: each claim is answered, each subnet has one owner,
    /// and who stays was not moved.
    #[test]
    fn nothing_is_lost_and_nothing_is_given_twice(old in records(), new in records(), ranks in proptest::collection::vec(0..3_u64, 100)) {
        let ((old, _), (new, _)) = (build(&old), build(&new));
        let claim = |(subnet, rank): (hierarchy::Subnet<'_>, &u64)| Claim { key: subnet.id(), range: subnet.range(), rank: *rank, provisional: false };
        let claims: Vec<_> = old.iter().zip(ranks.iter().cycle()).map(claim).collect();
        let placed = place(Some(&old), &new, claims.clone());
        let carried = settle(placed.clone());
        prop_assert_eq!(Census::of(&carried).total(), claims.len() as u64);
        let mut owners = std::collections::HashMap::new();
        for (one, placed) in carried.iter().zip(&placed) {
            prop_assert!(!placed.places.is_empty());
            prop_assert_eq!(one.gets.len() + one.yields.len(), placed.places.len());
            prop_assert!(!one.fate.stays() || one.stays(), "{one:?}");
            prop_assert!(one.fate.stays() || one.fate == Fate::Split || one.stays() || new.find(&one.claim.range).is_none());
            for range in &one.gets {
                prop_assert!(new.find(range).is_some());
                prop_assert_eq!(owners.insert(*range, one.claim.key), None);
                let right = match one.fate {
                    Fate::Split => one.claim.range.contains_range(range),
                    _ => range.contains_range(&one.claim.range),
                };
                prop_assert!(right, "{one:?}");
            }
        }
        for (range, key) in carried.iter().flat_map(|one| &one.yields) {
            prop_assert_eq!(owners.get(range), Some(key));
        }
        let mut turned = settle(placed.into_iter().rev().collect());
        turned.reverse();
        prop_assert_eq!(turned, carried);
    }

    #[test]
    fn what_lies_inside_is_the_models(records in records(), wanted in crate::world::record()) {
        let (hierarchy, _) = build(&records);
        let range = wanted.range;
        let fits = |id: hierarchy::SubnetId| {
            let subnet = hierarchy.subnet(id);
            subnet.kind() == SubnetKind::Delegated && range.contains_range(&subnet.range())
        };
        let outermost = |id: &hierarchy::SubnetId| fits(*id) && !hierarchy.ancestors(*id).any(fits);
        let expected: Vec<_> = hierarchy.iter().map(|subnet| subnet.id()).filter(outermost).collect();
        prop_assert_eq!(hierarchy.inside(&range).collect::<Vec<_>>(), expected);
    }
}
