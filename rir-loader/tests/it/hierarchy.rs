//! The fixtures become the expected hierarchy.

use std::io::{Cursor, Write};

use hierarchy::{Hierarchy, Registry, SubnetKind};
use rir_loader::delegated::Resource;
use rir_loader::read::{Contents, Options, ReadError};
use rir_loader::stats::Stats;
use rir_loader::{Step, read};

use crate::fixtures;
use crate::read_files::chain_of;

/// One line a subnet, one dot a level.
fn outline_of(hierarchy: &Hierarchy) -> String {
    let line = |subnet: hierarchy::Subnet<'_>| {
        let registry = subnet.registry().map_or("-", Registry::as_str);
        let country = subnet.country().map_or_else(|| "-".to_owned(), |c| c.to_string());
        let company =
            subnet.company().and_then(|id| hierarchy.company(id)).map_or("-", |c| c.handle);
        let company = company.get(..8).unwrap_or(company);
        let what = match subnet.kind() {
            SubnetKind::Delegated => format!("{country} {company}"),
            other => other.as_str().to_owned(),
        };
        format!("{}{} {registry} {what}\n", ".".repeat(subnet.depth()), subnet.range())
    };
    hierarchy.iter().map(line).collect::<Vec<_>>().concat()
}

const EXPECTED: &str = "\
0.0.0.0/0 - root
.1.0.0.0/8 apnic block
..1.0.0.0/16 apnic block
...1.0.0.0/24 apnic AU A91872ED
...1.0.1.0/24 apnic CN A92E1062
...1.0.2.0/23 apnic CN A92E1062
.2.0.0.0/8 ripencc block
..2.0.0.0/12 ripencc FR d91963c1
..2.16.0.0/13 ripencc EU dcca268d
.6.0.0.0/8 arin US 5b1ad8d4
.24.0.0.0/8 - block
..24.48.0.0/15 arin CA 0e4ee5b1
..24.232.0.0/16 lacnic AR 20118
.41.0.0.0/8 afrinic block
..41.0.0.0/11 afrinic ZA F3604A9B
..41.57.96.0 - 41.57.119.255 afrinic KE F3698A7E
.45.0.0.0/8 lacnic block
..45.4.0.0/22 lacnic CL 272078
.193.0.0.0/8 ripencc block
..193.0.0.0/21 ripencc NL -
.196.0.0.0/8 afrinic block
..196.204.208.1 - 196.204.208.255 afrinic EG F36B6F0C
::/0 - root
.2000::/12 - block
..2001:200::/23 apnic block
...2001:200::/32 apnic JP A916A983
...2001:208::/32 apnic SG A9174DD5
..2001:67c:2e8::/48 ripencc NL e5f2b8a0
..2001:1280::/25 lacnic BR 114434
..2001:4200::/32 afrinic ZA F36B9F4B
.2620::/12 arin block
..2620::/23 arin block
...2620::/32 arin block
....2620:0:10::/48 arin US d98c567c
....2620:0:20::/48 arin US 5b1ad8d4
";

#[test]
fn the_fixtures_make_the_expected_hierarchy() {
    let outline = outline_of(&fixtures::data().hierarchy);
    assert!(outline == EXPECTED, "{outline}");
}

#[test]
fn each_file_is_accounted_for() {
    let data = fixtures::data();
    let rows: Vec<_> = data
        .files
        .iter()
        .map(|file| {
            let Contents::Delegated(report) = &file.contents else { panic!("{file:?}") };
            let [asn, v4, v6] = Resource::ALL.map(|resource| report.count_of(resource).held);
            let end = report.header.end.clone().unwrap_or_default();
            (report.header.registry.as_str(), report.records(), asn, v4, v6, end)
        })
        .collect();
    let day = |text: &str| text.to_owned();
    assert_eq!(
        rows,
        [
            ("afrinic", 8, 1, 3, 1, day("2018-10-13")),
            ("apnic", 8, 1, 3, 2, day("2018-10-12")),
            ("arin", 6, 1, 2, 2, day("2018-10-13")),
            ("lacnic", 5, 0, 2, 1, day("2018-10-12")),
            ("ripencc", 7, 1, 3, 1, day("2018-10-13")),
        ]
    );
    assert_eq!(data.missing(), []);
}

#[test]
fn stats_count_what_is_there() {
    let stats = Stats::of(&fixtures::data());
    assert_eq!((stats.subnets, stats.delegated, stats.blocks, stats.ipv4), (35, 20, 13, 22));
    assert_eq!((stats.companies, stats.non_cidr, stats.max_depth), (17, 2, 4));
    assert_eq!((stats.no_country, stats.no_company, stats.rejected), (0, 1, 0));
    assert_eq!(stats.largest[0].company, "A92E1062");
    let text = stats.to_string();
    assert!(text.contains("35  subnets") && text.contains("apnic A92E1062"), "{text}");
}

#[test]
fn inspect_shows_the_chain_from_the_root() {
    let options = Options { origins: true, ..Options::default() };
    let data = read::read(&fixtures::all(), options, &|_| {}).unwrap();
    let links = chain_of(&data, "1.0.3.7");
    let ranges: Vec<_> = links.iter().map(|link| link.range.as_str()).collect();
    assert_eq!(ranges, ["0.0.0.0/0", "1.0.0.0/8", "1.0.0.0/16", "1.0.2.0/23"]);
    let block = &links[2];
    let leaf = &links[3];
    assert_eq!((block.source.as_ref(), block.registry), (None, Some("apnic")));
    assert_eq!((leaf.country.as_deref(), leaf.company.as_deref()), (Some("CN"), Some("A92E1062")));
    assert!(leaf.source.as_ref().unwrap().ends_with("delegated-apnic-extended"));
    // A range that no subnet holds but its block.
    assert_eq!(chain_of(&data, "1.0.0.0/22").last().unwrap().range, "1.0.0.0/16");
}

#[test]
fn plain_and_gzip_are_told_apart_by_content() {
    let dir = tempfile::tempdir().unwrap();
    let named_wrongly = dir.path().join("delegated-apnic-extended");
    std::fs::write(&named_wrongly, fixtures::gzip(fixtures::text("apnic").as_bytes())).unwrap();
    let data =
        read::read(std::slice::from_ref(&named_wrongly), Options::default(), &|_| {}).unwrap();
    let Contents::Delegated(report) = &data.files[0].contents else { panic!("{data:?}") };
    assert_eq!(report.records(), 8);
    assert_eq!(data.missing().len(), 4);
}

#[test]
fn progress_reports_every_byte() {
    use std::sync::atomic::{AtomicU64, Ordering};
    let bytes = AtomicU64::new(0);
    let files = AtomicU64::new(0);
    let progress = |step: Step<'_>| match step {
        Step::Bytes(more) => drop(bytes.fetch_add(more, Ordering::Relaxed)),
        Step::File { .. } => drop(files.fetch_add(1, Ordering::Relaxed)),
        _ => {}
    };
    read::read(&fixtures::all(), Options::default(), &progress).unwrap();
    let stored: u64 = fixtures::all().iter().map(|path| path.metadata().unwrap().len()).sum();
    assert_eq!((bytes.into_inner(), files.into_inner()), (stored, 5));
}

#[test]
fn two_files_of_one_registry_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["delegated-apnic-extended", "delegated-apnic-extended-latest"] {
        std::fs::write(dir.path().join(name), fixtures::text("apnic")).unwrap();
    }
    let paths = rir_loader::files::files(&[dir.path().to_owned()]).unwrap();
    let error = read::read(&paths, Options::default(), &|_| {}).unwrap_err();
    assert!(
        matches!(&error, ReadError::TwoOfOneRegistry { registry: Registry::Apnic, .. }),
        "{error}"
    );
    assert!(error.to_string().ends_with("are both of apnic; give one of them"), "{error}");
}

#[test]
fn two_files_of_one_registry_are_refused_in_an_archive_with_other_texts() {
    let dir = tempfile::tempdir().unwrap();
    let archive = |name: &str, members: &[(&str, &str)]| {
        let mut zip = zip::ZipWriter::new(Cursor::new(vec![]));
        for (name, text) in members {
            zip.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
            zip.write_all(text.as_bytes()).unwrap();
        }
        let path = dir.path().join(name);
        std::fs::write(&path, zip.finish().unwrap().into_inner()).unwrap();
        path
    };
    let apnic = fixtures::text("apnic");
    let readme = ("README.txt", "read me\n");
    let one = archive("one.zip", &[("a", &apnic), readme]);
    let two = archive("two.zip", &[("a", &apnic), ("b", &apnic), readme]);
    let plain = dir.path().join("delegated-apnic-extended");
    std::fs::write(&plain, &apnic).unwrap();
    for paths in [vec![plain, one], vec![two]] {
        let error = read::read(&paths, Options::default(), &|_| {}).unwrap_err();
        assert!(matches!(error, ReadError::TwoOfOneRegistry { .. }), "{error}");
        assert!(error.to_string().contains(".zip, "), "{error}");
    }
}

#[test]
fn a_directory_stands_for_its_registry_files() {
    let dir = tempfile::tempdir().unwrap();
    let aside = ["delegated-arin-extended.md5", "delegated-arin-extended-latest.part", "notes.txt"];
    for name in aside.iter().chain(&["routes.csv", "delegated-b", "delegated-a.gz"]) {
        std::fs::write(dir.path().join(name), "").unwrap();
    }
    let found = rir_loader::files::files(&[dir.path().to_owned()]).unwrap();
    let expected = ["delegated-a.gz", "delegated-b", "routes.csv"];
    assert_eq!(found, expected.map(|name| dir.path().join(name)));
    let empty = tempfile::tempdir().unwrap();
    for _ in 0..2 {
        let error = rir_loader::files::files(&[empty.path().to_owned()]).unwrap_err().to_string();
        assert!(error.contains("rir-loader fetch --dir"), "{error}");
        std::fs::write(empty.path().join("routes.csv"), "").unwrap();
    }
}
