//! Tests of the synthetic dumps: their shares are as configured, and the loader reads all of it.

use std::path::Path;

use rir_loader::read::{Options, read};
use rir_loader::settle::CompanyKey;

use super::{Made, make};

fn made(dir: &Path, seed: u64) -> (Made, Vec<Vec<u8>>) {
    let made = make(dir, 0.000_5, seed).unwrap();
    let bytes = made.files.iter().map(|file| std::fs::read(file).unwrap()).collect();
    (made, bytes)
}

#[test]
fn the_same_seed_makes_the_same_files() {
    let dirs = [(); 3].map(|()| tempfile::tempdir().unwrap());
    let one = made(dirs[0].path(), 7).1;
    assert_eq!(one, made(dirs[1].path(), 7).1);
    assert_ne!(one, made(dirs[2].path(), 8).1);
}

#[test]
fn the_loader_reads_every_range_and_rejects_none() {
    let dir = tempfile::tempdir().unwrap();
    let (made, _) = made(dir.path(), 7);
    assert_eq!(made.nets, 2_150 + 600 + 100 + 1_650 + 250);
    let nested = read(&made.files, Options::default(), &|_| {}).unwrap();
    assert_eq!((nested.settled.nets, nested.rejected(), nested.missing()), (made.nets, 0, vec![]));
    // Nothing crosses: assignments lie in allocations. What has no organisation is known by its
    // description, owner or handle.
    assert_eq!(nested.build.crossing, 0);
    let holders = &nested.settled.holders;
    assert!(
        holders[&CompanyKey::Organisation] > 1_000
            && holders[&CompanyKey::Description] > 1_000
            && holders[&CompanyKey::Owner] > 200,
        "{holders:?}"
    );
    let stats = rir_loader::stats::Stats::of(&nested);
    let share = stats.non_cidr as f64 / stats.delegated as f64;
    assert!((0.003..0.03).contains(&share), "{share}");
}
