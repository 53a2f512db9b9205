//! The five registries' complete files of October 2018, where they are at hand.

use std::path::{Path, PathBuf};

use hierarchy::SubnetKind;
use rir_loader::delegated;
use rir_loader::files::files;
use rir_loader::read::read;
use rir_loader::stats::Stats;

/// The files, or `None` and a word about it.
fn real(test: &str) -> Option<Vec<PathBuf>> {
    let dir =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/rir/delegated-extended-2018");
    if dir.is_dir() {
        return Some(files(&[dir]).unwrap());
    }
    println!("skipped {test}: {} is not there", dir.display());
    None
}

#[test]
fn the_files_of_2018_hold_what_is_known_of_them() {
    let Some(paths) = real("the_files_of_2018_hold_what_is_known_of_them") else { return };
    let nested = read(&paths, &|_| {}).unwrap();
    let stats = Stats::of(&nested);
    // Counted independently, with awk.
    let held: u64 = stats.sources.iter().map(|source| source.ipv4).sum();
    let held_v6: u64 = stats.sources.iter().map(|source| source.ipv6).sum();
    let records: u64 = stats.sources.iter().map(|source| source.records).sum();
    assert_eq!((held, held_v6, records), (190_920, 41_372, 512_252));
    // No two of them overlap, so that each is a subnet; 607 are no power of two and 193 more are
    // not aligned.
    assert_eq!((stats.delegated, stats.equal, stats.crossing), (190_920 + 41_372, 0, 0));
    assert_eq!(stats.non_cidr, 607 + 193);
    assert_eq!(nested.missing(), []);
}

#[test]
fn every_record_is_found_by_its_addresses() {
    let Some(paths) = real("every_record_is_found_by_its_addresses") else { return };
    let hierarchy = read(&paths, &|_| {}).unwrap().hierarchy;
    for path in &paths {
        delegated::read(path, &|_| {}, &mut |row| {
            let Some(range) = row.range else { return };
            let found =
                [range.first(), range.last()].map(|end| hierarchy.subnet(hierarchy.smallest(end)));
            for subnet in found {
                let delegated = subnet.kind() == SubnetKind::Delegated;
                assert_eq!(delegated, row.is_held(), "{row:?} {subnet:?}");
                if !delegated {
                    continue;
                }
                assert_eq!((subnet.range(), subnet.country()), (range, row.country));
                let company = subnet.company().and_then(|id| hierarchy.company(id));
                assert_eq!(company.map(|company| company.handle), row.opaque_id);
                // Under a root there is a block first, unless the record itself fills one.
                assert!(subnet.depth() >= 1 && subnet.registry() == Some(row.registry));
            }
        })
        .unwrap();
    }
}

#[test]
fn half_a_real_file_is_refused() {
    let Some(paths) = real("half_a_real_file_is_refused") else { return };
    for path in paths {
        let mut bytes = std::fs::read(&path).unwrap();
        bytes.truncate(bytes.len() / 2);
        let error = delegated::read_stream("half", &bytes[..], &mut |_| {}).unwrap_err();
        assert!(error.to_string().contains("fetch it again"), "{error}");
    }
}
