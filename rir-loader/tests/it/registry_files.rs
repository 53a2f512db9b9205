//! The five registries' complete files of October 2018.

use std::io::Read;
use std::path::{Path, PathBuf};

use hierarchy::SubnetKind;
use rir_loader::delegated::{self, Extent};
use rir_loader::files::files;
use rir_loader::read::{Options, read};
use rir_loader::stats::Stats;

/// The files. The tests that use them are ignored unless the files are there.
fn registry_files() -> Vec<PathBuf> {
    let dir =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/rir/delegated-extended-2018");
    files(&[dir]).unwrap()
}

/// Every record counts, also that of 2001:5::/32, which is special-purpose space (RFC 7954).
fn everything() -> Options {
    Options { special_purpose: true, ..Options::default() }
}

fn unpacked(path: &Path) -> Vec<u8> {
    let mut text = vec![];
    let file = std::fs::File::open(path).unwrap();
    flate2::read::MultiGzDecoder::new(file).read_to_end(&mut text).unwrap();
    text
}

#[test]
#[ignore = "needs the registry files of ../shared/data"]
fn the_files_of_2018_hold_what_is_known_of_them() {
    let paths = registry_files();
    let data = read(&paths, everything(), &|_| {}).unwrap();
    let stats = Stats::of(&data);
    // Counted independently, with awk.
    let held: u64 = stats.sources.iter().map(|source| source.ipv4).sum();
    let held_v6: u64 = stats.sources.iter().map(|source| source.ipv6).sum();
    let records: u64 = stats.sources.iter().map(|source| source.records).sum();
    assert_eq!((held, held_v6, records), (190_920, 41_372, 512_252));
    // No two of them overlap, so that each is a subnet; 607 are no power of two and 193 more are
    // not aligned.
    assert_eq!((stats.delegated, stats.equal, stats.crossing), (190_920 + 41_372, 0, 0));
    assert_eq!(stats.non_cidr, 607 + 193);
    assert_eq!(data.missing(), []);
}

#[test]
#[ignore = "needs the registry files of ../shared/data"]
fn every_record_is_found_by_its_addresses() {
    let paths = registry_files();
    let hierarchy = read(&paths, everything(), &|_| {}).unwrap().hierarchy;
    for path in &paths {
        delegated::read(&unpacked(path)[..], &mut |record| {
            let Extent::Addresses(range) = record.extent else { return };
            let found =
                [range.first(), range.last()].map(|end| hierarchy.subnet(hierarchy.smallest(end)));
            for subnet in found {
                let delegated = subnet.kind() == SubnetKind::Delegated;
                assert_eq!(delegated, record.is_held(), "{record:?} {subnet:?}");
                if !delegated {
                    continue;
                }
                assert_eq!((subnet.range(), subnet.country()), (range, record.country));
                let company = subnet.company().and_then(|id| hierarchy.company(id));
                assert_eq!(company.map(|company| company.handle), record.opaque_id);
                // Under a root there is a block first, unless the record itself fills one.
                assert!(subnet.depth() >= 1 && subnet.registry() == Some(record.registry));
            }
        })
        .unwrap();
    }
}

#[test]
#[ignore = "needs the registry files of ../shared/data"]
fn half_a_real_file_is_refused() {
    let paths = registry_files();
    for path in paths {
        let mut bytes = std::fs::read(&path).unwrap();
        bytes.truncate(bytes.len() / 2);
        let error = crate::fixtures::read_bytes(&bytes).unwrap_err();
        assert!(error.to_string().contains("fetch it again"), "{error}");
    }
}
