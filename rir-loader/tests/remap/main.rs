//! Delegations of a large generation are remapped correctly after the registries' files changed.

#![expect(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

mod checks;
mod edits;

use std::collections::HashMap;
use std::fmt::Write;
use std::io::Read;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::path::{Path, PathBuf};

use hierarchy::remap::{Claim, Plan, RangeChange, RemapCounts, Remapping, SearchClaim};
use hierarchy::{Hierarchy, Range, SubnetId};
use rir_loader::files::files;
use rir_loader::read::{Options, read};

use crate::checks::{
    DelegatedRanges, check_change, check_constraints, check_owners, check_searches,
};
use crate::edits::Edits;

/// Records of either family in the generated file.
const IPV4_RECORDS: u32 = 18_000;
const IPV6_RECORDS: u32 = 2_000;

/// A claim on every delegated range, as if all of them were delegated to agents of various ranks.
fn claims_of(ranges: &DelegatedRanges<'_>, hierarchy: &Hierarchy) -> Vec<Claim<SubnetId>> {
    let claim = |(number, range): (u64, Range)| {
        let key = hierarchy.find(&range).unwrap();
        Claim { key, range, rank: number * 7919 % 1000, provisional: false }
    };
    (0..).zip(ranges.iter()).map(claim).collect()
}

/// A search for one range in ten, which probes its last address.
fn searches_of(claims: &[Claim<SubnetId>]) -> Vec<SearchClaim<SubnetId>> {
    let search = |claim: &Claim<SubnetId>| SearchClaim {
        key: claim.key,
        range: claim.range,
        target: claim.range.last(),
    };
    claims.iter().step_by(10).map(search).collect()
}

/// The claims after they were remapped once.
fn remapped_claims(
    remappings: &[Remapping<SubnetId>],
    hierarchy: &Hierarchy,
) -> Vec<Claim<SubnetId>> {
    let mut claims = vec![];
    for one in remappings {
        for range in &one.assigned {
            let key = hierarchy.find(range).unwrap();
            claims.push(Claim { key, range: *range, rank: one.claim.rank, provisional: false });
        }
    }
    claims
}

#[test]
fn no_delegation_of_generated_files_is_lost() {
    let records = IPV4_RECORDS + IPV6_RECORDS;
    let mut text = format!("2|ripencc|1|{records}|19830705|20181013|+0000\n");
    for number in 0..IPV4_RECORDS {
        let first = Ipv4Addr::from_bits((62 << 24) + number * 256);
        writeln!(text, "ripencc|NL|ipv4|{first}|256|20100101|allocated|{number}").unwrap();
    }
    for number in 0..IPV6_RECORDS {
        let first = Ipv6Addr::from_bits((0x2a00_0000 + u128::from(number)) << 96);
        writeln!(text, "ripencc|NL|ipv6|{first}|32|20100101|allocated|six-{number}").unwrap();
    }
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("delegated-ripencc-extended");
    std::fs::write(&path, text).unwrap();
    check_remapping(&[path]);
}

#[test]
#[ignore = "needs the registry files of ../shared/data"]
fn no_delegation_of_the_files_of_2018_is_lost() {
    let dir =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/rir/delegated-extended-2018");
    check_remapping(&files(&[dir]).unwrap());
}

fn text_of(path: &Path) -> String {
    let mut file = std::fs::File::open(path).unwrap();
    let mut text = String::new();
    if path.extension().is_some_and(|extension| extension == "gz") {
        flate2::read::MultiGzDecoder::new(file).read_to_string(&mut text).unwrap();
    } else {
        file.read_to_string(&mut text).unwrap();
    }
    text
}

/// Edits copies of the files, and checks the remapping to the edited generation and back.
fn check_remapping(paths: &[PathBuf]) {
    let before = read(paths, Options::default(), &|_| {}).unwrap().hierarchy;
    let copies = tempfile::tempdir().unwrap();
    let mut edits = Edits::default();
    for path in paths {
        let copy = copies.path().join(path.file_stem().unwrap());
        std::fs::write(copy, edits.edit(&text_of(path))).unwrap();
    }
    let copies = files(&[copies.path().to_owned()]).unwrap();
    let after = read(&copies, Options::default(), &|_| {}).unwrap().hierarchy;
    let old = DelegatedRanges::of(&before);
    let new = DelegatedRanges::of(&after);
    let claims = claims_of(&old, &before);
    let forward = remap(&before, &after, &claims);
    for one in &forward.delegations {
        let expected = edits.changes.get(&one.claim.range).copied().unwrap_or(RangeChange::Same);
        assert_eq!(one.change, expected, "{}", one.claim.range);
        check_change(&old, &new, one);
    }
    let remapped: Vec<_> = forward.delegations.iter().map(|one| one.claim).collect();
    assert_eq!(remapped, claims, "each, once, in order");
    // And back, as when a bad file was loaded and then the good one again.
    let back = remap(&after, &before, &remapped_claims(&forward.delegations, &after));
    back.delegations.iter().for_each(|one| check_change(&new, &old, one));
    check_return(&forward, &back);
}

type RemapPlan = Plan<SubnetId, SubnetId, SubnetId>;

/// Remaps all claims, a search for one in ten and a pin for one in seven.
fn remap(old: &Hierarchy, new: &Hierarchy, claims: &[Claim<SubnetId>]) -> RemapPlan {
    let pinned: Vec<_> = claims.iter().copied().step_by(7).collect();
    let plan = Plan::of(Some(old), new, claims.iter().copied(), searches_of(claims), [pinned]);
    let counts = RemapCounts::of(&plan.delegations);
    let moved = RangeChange::ALL.iter().filter(|change| counts.count(**change) > 300).count();
    assert!(moved >= 4, "{counts}");
    assert_eq!(
        (counts.total(), plan.searches.len()),
        (claims.len() as u64, claims.len().div_ceil(10))
    );
    check_owners(new, &plan.delegations);
    check_constraints(new, &plan.constraints);
    check_searches(&DelegatedRanges::of(new), &plan.searches, &plan.delegations);
    plan
}

/// A claim that got all successors of its range has the range again, even if it was split in
/// between.
fn check_return(forward: &RemapPlan, back: &RemapPlan) {
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
    for one in forward.delegations.iter().filter(kept) {
        assert_eq!(owners.get(&one.claim.range), Some(&one.claim.rank), "{}", one.claim.range);
    }
}
