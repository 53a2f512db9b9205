//! Files of several formats, read and settled together.

use std::io::{Cursor, Write};
use std::path::PathBuf;

use hierarchy::SplitLeaves;
use rir_loader::inspect::SubnetInfo;
use rir_loader::read::{Contents, Options, ReadError, RegistryData, read};
use rir_loader::settle::SplitPolicy;

use crate::fixtures::{documentation, gzip};
use crate::whois::{ARIN, ARIN_XML, RPSL};

fn write(dir: &tempfile::TempDir, name: &str, bytes: &[u8]) -> PathBuf {
    let path = dir.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

/// The subnets that contain an address.
pub(crate) fn chain_of(data: &RegistryData, address: &str) -> Vec<SubnetInfo> {
    let range = address.parse().unwrap();
    rir_loader::inspect::chain(&data.hierarchy, &range, &|range| data.file_of(range))
}

fn chain(data: &RegistryData, address: &str) -> Vec<String> {
    let links = chain_of(data, address);
    links
        .iter()
        .map(|link| format!("{} {}", link.range, link.company.as_deref().unwrap_or("-")))
        .collect()
}

#[test]
fn dumps_and_delegated_files_are_settled_together() {
    let dir = tempfile::tempdir().unwrap();
    let delegated = "2|ripencc|1|3|||\nripencc|NL|ipv4|192.0.2.0|256|20010101|allocated|opaque-1\n\
                     ripencc|DE|ipv4|198.51.100.0|256|20010101|allocated|opaque-2\n\
                     ripencc||ipv6|2001:db8::|32||reserved\n";
    let apnic = "2|apnic|1|1|||\napnic|AU|ipv4|203.0.113.0|256|20010101|allocated|opaque-3\n";
    let files = [
        write(&dir, "a", RPSL.as_bytes()),
        write(&dir, "b", &gzip(delegated.as_bytes())),
        write(&dir, "c", apnic.as_bytes()),
    ];
    let data = read(&files, documentation(), &|_| {}).unwrap();
    // APNIC does not maintain 2001:db8::/32, so that its object there is dropped.
    let settled = &data.settled;
    assert_eq!((settled.nets, settled.unmaintained, settled.confirmed), (3, 1, 1));
    assert_eq!(
        chain(&data, "192.0.2.1")[3..],
        ["192.0.2.0/24 opaque-1", "192.0.2.0 - 192.0.2.99 Example  Widgets"]
    );
    // A known opaque id says more than a line of description.
    assert_eq!(chain(&data, "198.51.100.1").last().unwrap(), "198.51.100.0/24 opaque-2");
    assert_eq!(chain(&data, "2001:db8::1"), ["::/0 -"]);
}

#[test]
fn organisations_may_come_in_another_file_and_later() {
    let dir = tempfile::tempdir().unwrap();
    let net = "inetnum: 192.0.2.0 - 192.0.2.255\norg: ORG-1\nsource: RIPE\n";
    let organisation = "organisation: org-1\norg-name: One\ncountry: FR\nsource: RIPE\n";
    let files = [write(&dir, "net", net.as_bytes()), write(&dir, "org", organisation.as_bytes())];
    let data = read(&files, documentation(), &|_| {}).unwrap();
    let links = chain_of(&data, "192.0.2.7");
    let leaf = links.last().unwrap();
    assert_eq!((leaf.company.as_deref(), leaf.country.as_deref()), (Some("One"), Some("FR")));
    assert_eq!(data.settled.country_of_company, 1);
}

#[test]
fn routes_give_names_and_finer_ranges() {
    let dir = tempfile::tempdir().unwrap();
    let delegated = "2|ripencc|1|2|||\nripencc|NL|ipv4|192.0.2.0|256|20010101|allocated|opaque-1\n\
                     ripencc|NL|asn|64496|2|20010101|allocated|opaque-1\n";
    let routes = "range,asn,name\n192.0.2.0/25,64497,\"Example, Inc.\"\n";
    let files = [write(&dir, "a", routes.as_bytes()), write(&dir, "b", delegated.as_bytes())];
    let data = read(&files, documentation(), &|_| {}).unwrap();
    assert_eq!(
        chain(&data, "192.0.2.1")[3..],
        ["192.0.2.0/24 Example, Inc.", "192.0.2.0/25 Example, Inc."]
    );
}

/// Of a dump only who holds what is kept: nobody's address, telephone or remarks.
#[test]
fn what_is_said_of_people_is_not_taken() {
    let dir = tempfile::tempdir().unwrap();
    let dump = "person: SECRET Person\naddress: SECRET Street 1\nphone: SECRET\ne-mail: \
     SECRET@example.org\n\
                nic-hdl: SECRET-RIPE\nsource: RIPE\n\n\
                organisation: ORG-X1-RIPE\norg-name: Example Ltd\naddress: SECRET\ne-mail: \
                SECRET\nsource: RIPE\n\n\
                inetnum: 193.0.0.0 - 193.0.0.255\nnetname: EX\ndescr: Example\ndescr: SECRET \
                second line\n\
                org: ORG-X1-RIPE\nadmin-c: SECRET\nremarks: SECRET\nnotify: SECRET\ncountry: \
                NL\nsource: RIPE\n";
    let data = read(&[write(&dir, "a", dump.as_bytes())], Options::default(), &|_| {}).unwrap();
    let companies: Vec<_> =
        data.hierarchy.companies().iter().map(|(_, company)| format!("{company:?}")).collect();
    assert!(companies.len() == 1 && companies[0].contains("Example Ltd"), "{companies:?}");
    assert!(!companies.concat().contains("SECRET"), "{companies:?}");
    let stats = rir_loader::stats::Stats::of(&data);
    assert!(!serde_json::to_string(&stats).unwrap().contains("SECRET"));
}

#[test]
fn large_leaves_are_cut_where_the_policy_says() {
    let dir = tempfile::tempdir().unwrap();
    let delegated =
        "2|ripencc|1|1|||\nripencc|NL|ipv4|10.0.0.0|65536|20010101|allocated|opaque-1\n";
    let split = SplitPolicy { v4: Some(SplitLeaves { above: 20, into: 22 }), v6: None };
    let options = Options { split, ..documentation() };
    let data = read(&[write(&dir, "a", delegated.as_bytes())], options, &|_| {}).unwrap();
    assert_eq!(data.settled.virtual_subnets, 64);
    // They are shown as what they are: neither held by themselves nor blocks that group.
    let stats = rir_loader::stats::Stats::of(&data);
    assert_eq!((stats.delegated, stats.blocks, stats.virtual_subnets), (1, 1, 64));
    let kinds = |text: &str| {
        let links = chain_of(&data, text);
        links.iter().map(|link| link.kind).collect::<Vec<_>>()
    };
    assert_eq!(kinds("10.0.77.1"), ["root", "block", "delegated", "virtual"]);
    assert_eq!(chain(&data, "10.0.77.1").last().unwrap(), "10.0.76.0/22 opaque-1");
}

#[test]
fn a_zip_may_hold_several_texts_and_others() {
    let dir = tempfile::tempdir().unwrap();
    let xml = ("arin_db.xml", ARIN_XML);
    let txt = ("arin_db.txt", ARIN);
    let others = [("README.txt", "read me\n"), ("empty", ""), ("more/arin_db.txt", ARIN)];
    // Both hold the same: whichever comes first is read. What only has the same name elsewhere is
    // another's.
    for order in [[xml, txt], [txt, xml]] {
        let mut zip = zip::ZipWriter::new(Cursor::new(vec![]));
        for (name, text) in order.into_iter().chain(others) {
            zip.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
            zip.write_all(text.as_bytes()).unwrap();
        }
        let bytes = zip.finish().unwrap().into_inner();
        let data = read(&[write(&dir, "arin", &bytes)], documentation(), &|_| {}).unwrap();
        let members: Vec<_> =
            data.files.iter().map(|file| file.member.as_deref().unwrap()).collect();
        assert_eq!(members, [order[0].0, order[1].0, "README.txt", "more/arin_db.txt"]);
        assert_eq!((data.settled.nets, data.settled.duplicates), (6, 3));
        let passed: Vec<_> =
            data.files.iter().map(|file| matches!(file.contents, Contents::Skipped)).collect();
        assert_eq!(passed, [false, true, true, false]);
    }
}

#[test]
fn what_is_no_registry_data_is_refused_with_what_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let wide: Vec<u8> = RPSL.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let routes = "route: 192.0.2.0/24\norigin: AS64496\nsource: RADB\n";
    for (bytes, sentence) in [
        (&b"<!DOCTYPE html><title>404</title>"[..], "cannot be used: it is a web page"),
        (&wide, "cannot be used: it is UTF-16"),
        (b"BZh91AY&SY", "it is packed with bzip2; unpack it first"),
        (b"", "it is empty"),
        (b"\0\x01\x02 binary", "it is binary data"),
        (b"Dear registry,\n", "it is neither a delegated file, nor a WHOIS dump"),
        (routes.as_bytes(), "holds the routes of a routing registry"),
    ] {
        let error = read(&[write(&dir, "x", bytes)], Options::default(), &|_| {}).unwrap_err();
        let said = error.to_string();
        assert!(
            said.contains(sentence) && said.contains(&dir.path().display().to_string()),
            "{said}"
        );
        assert!(matches!(error, ReadError::UnknownFormat { .. } | ReadError::Text { .. }));
    }
}

#[test]
fn a_directory_takes_the_twin_in_utf8() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["ripe.db.inetnum.gz", "ripe.db.inetnum.utf8.gz", "apnic.db.inetnum.gz", "notes.gz"]
    {
        write(&dir, name, b"");
    }
    let found = rir_loader::files::files(&[dir.path().to_owned(), "-".into()]).unwrap();
    let names: Vec<_> =
        found.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect();
    assert_eq!(names, ["apnic.db.inetnum.gz", "ripe.db.inetnum.utf8.gz", "-"]);
}
