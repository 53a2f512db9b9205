//! Everything delegated on the registries' real files of October 2018 finds its place after those
//! files changed.

#![expect(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

mod edits;
mod right;

use std::collections::HashMap;
use std::io::Read;
use std::path::Path;

use hierarchy::remap::{Claim, Plan, RangeChange, RemapCounts, Remapping, SearchClaim};
use hierarchy::{Hierarchy, Range, SubnetId};
use rir_loader::files::files;
use rir_loader::read::read;

use crate::edits::Edits;
use crate::right::{Held, one_owner_each, pins_count_for_something, says_why, searches_go_on};

fn unpacked(path: &Path) -> String {
    let mut text = String::new();
    flate2::read::MultiGzDecoder::new(std::fs::File::open(path).unwrap())
        .read_to_string(&mut text)
        .unwrap();
    text
}

/// A claim on every range that somebody holds, as if all of them were delegated, to agents nearer
/// and farther.
fn claims(held: &Held<'_>, hierarchy: &Hierarchy) -> Vec<Claim<SubnetId>> {
    let claim = |(number, range): (u64, Range)| {
        let key = hierarchy.find(&range).unwrap();
        Claim { key, range, rank: number * 7919 % 1000, provisional: false }
    };
    (0..).zip(held.ranges()).map(claim).collect()
}

/// A search for one range in ten, which probes its last address.
fn quests(claims: &[Claim<SubnetId>]) -> Vec<SearchClaim<SubnetId>> {
    let every = claims.iter().step_by(10);
    every
        .map(|claim| SearchClaim { key: claim.key, range: claim.range, target: claim.range.last() })
        .collect()
}

/// Where everything is that was delegated at first, after it was carried over again.
fn again(carried: &[Remapping<SubnetId>], new: &Hierarchy) -> Vec<Claim<SubnetId>> {
    let gets =
        carried.iter().flat_map(|one| one.assigned.iter().map(|range| (one.claim.rank, *range)));
    let claim =
        |(rank, range)| Claim { key: new.find(&range).unwrap(), range, rank, provisional: false };
    gets.map(claim).collect()
}

#[test]
fn no_delegation_is_lost_and_each_that_moved_says_why() {
    let dir =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/rir/delegated-extended-2018");
    if !dir.is_dir() {
        println!(
            "skipped no_delegation_is_lost_and_each_that_moved_says_why: {} is not there",
            dir.display()
        );
        return;
    }
    let paths = files(&[dir]).unwrap();
    let before = read(&paths, &|_| {}).unwrap().hierarchy;
    let copies = tempfile::tempdir().unwrap();
    let mut edits = Edits::default();
    for path in &paths {
        let name = path.file_stem().unwrap();
        std::fs::write(copies.path().join(name), edits.edit(&unpacked(path))).unwrap();
    }
    let after = read(&files(&[copies.path().to_owned()]).unwrap(), &|_| {}).unwrap().hierarchy;
    let (old, new) = (Held::of(&before), Held::of(&after));
    let claims = claims(&old, &before);
    let there = carry(&before, &after, &claims, "after the changes");
    for one in &there.delegations {
        let expected = edits.fates.get(&one.claim.range).copied().unwrap_or(RangeChange::Same);
        assert_eq!(one.change, expected, "{}", one.claim.range);
        says_why(&old, &new, one);
    }
    assert_eq!(
        there.delegations.iter().map(|one| one.claim).collect::<Vec<_>>(),
        claims,
        "each, once, in order"
    );
    // And back, as when a bad file was loaded and then the good one again.
    let back = carry(&after, &before, &again(&there.delegations, &after), "back again");
    back.delegations.iter().for_each(|one| says_why(&new, &old, one));
    came_home(&there, &back);
}

type Both = Plan<SubnetId, SubnetId, SubnetId>;

fn carry(old: &Hierarchy, new: &Hierarchy, claims: &[Claim<SubnetId>], when: &str) -> Both {
    let pinned: Vec<_> = claims.iter().copied().step_by(7).collect();
    let plan = Plan::of(Some(old), new, claims.iter().copied(), quests(claims), [pinned]);
    let census = RemapCounts::of(&plan.delegations);
    println!("{} delegations {when}: {census}", claims.len());
    let moved = RangeChange::ALL.iter().filter(|fate| census.count(**fate) > 300).count();
    assert!(moved >= 4, "{census}");
    assert_eq!(
        (census.total(), plan.searches.len()),
        (claims.len() as u64, claims.len().div_ceil(10))
    );
    one_owner_each(new, &plan.delegations);
    pins_count_for_something(new, &plan.constraints);
    searches_go_on(&Held::of(new), &plan.searches, &plan.delegations);
    plan
}

/// Whoever had a range whose places all became its own has it again, be it that it was split in
/// between.
fn came_home(there: &Both, back: &Both) {
    let gets = |one: &Remapping<SubnetId>| {
        one.assigned.iter().map(|range| (*range, one.claim.rank)).collect::<Vec<_>>()
    };
    let owners: HashMap<Range, u64> = back.delegations.iter().flat_map(gets).collect();
    let kept = |one: &&Remapping<SubnetId>| {
        one.ceded.is_empty()
            && matches!(
                one.change,
                RangeChange::Same | RangeChange::Transferred | RangeChange::Split
            )
    };
    for one in there.delegations.iter().filter(kept) {
        assert_eq!(owners.get(&one.claim.range), Some(&one.claim.rank), "{}", one.claim.range);
    }
}
