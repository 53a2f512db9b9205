//! Dumps in every format, written for these tests after the registries' descriptions.

use std::io::{BufReader, Cursor, Write};
use std::path::PathBuf;

use rir_loader::TextError;
use rir_loader::format::Format;
use rir_loader::inspect::SubnetInfo;
use rir_loader::read::{Contents, Options, ReadError, RegistryData, read};
use rir_loader::settle::SplitPolicy;
use rir_loader::whois::{self, Object, WhoisReport};

use crate::fixtures::gzip;

/// Each object in a few words.
pub(crate) fn describe(object: &Object<'_>) -> String {
    let or_dash = |text: Option<&str>| text.unwrap_or("-").to_owned();
    match object {
        Object::Net(net) => format!(
            "net {} | {} | org {} | owner {} | descr {} | netname {} | mnt {} | status {} | {}{} \
             | {}",
            net.range,
            net.registry,
            or_dash(net.organisation),
            or_dash(net.owner),
            or_dash(net.description),
            or_dash(net.netname),
            or_dash(net.maintainer),
            or_dash(net.status),
            net.country.map_or_else(|| "-".to_owned(), |country| country.to_string()),
            if net.more_countries { "+" } else { "" },
            net.changed,
        ),
        Object::Organisation(organisation) => format!(
            "organisation {} | {} | {} | {}",
            organisation.handle,
            organisation.registry,
            or_dash(organisation.name),
            organisation.country.map_or_else(|| "-".to_owned(), |country| country.to_string()),
        ),
    }
}

/// The objects of a text, and what is reported of it.
pub(crate) fn objects(
    format: Format,
    bytes: &[u8],
) -> Result<(Vec<String>, WhoisReport), TextError> {
    let mut objects = vec![];
    let mut take = |object: &Object<'_>| objects.push(describe(object));
    let report = match format {
        Format::ArinXml => whois::xml::read(bytes, &mut take)?,
        _ => whois::text::read(format, bytes, &mut take)?,
    };
    Ok((objects, report))
}

pub(crate) const RPSL: &str = "\
# terms and conditions

% Tags relating to 'AS64496'
% RIPE-REGISTRY-RESOURCE

inetnum:        192.0.2.0 - 192.0.2.99
netname:        EXAMPLE-NET
descr:          Example Widgets # since 1999
descr:          Some street 1
country:        NL # and elsewhere
country:        BE
org:            ORG-EX1-RIPE
sponsoring-org: ORG-LIR1-RIPE
status:         ASSIGNED PA
mnt-by:         RIPE-NCC-HM-MNT
mnt-by:         EXAMPLE-MNT, OTHER-MNT
unheard-of:     kept for later
created:        2001-01-01T00:00:00Z
last-modified:  2012-05-31T08:16:34Z
source:         RIPE


inetnum:        198.51.100.0 -
+               198.51.100.255
descr:          Wide
                Street
netname:        FIRST
source:         RIPE # Filtered
\t
inet6num:2001:db8::/32
netname:V6
changed:a@example.net 20030303
source:APNIC

organisation:   ORG-EX1-RIPE
org-name:       Example
+
                Widgets
country:        NL
source:         RIPE

person:         Somebody
no colon here, and nobody minds
source:         RIPE
";

#[test]
fn rpsl_is_read_with_comments_continuations_and_unknown_attributes() {
    let (objects, report) = objects(Format::Rpsl, RPSL.as_bytes()).unwrap();
    assert_eq!(
        objects,
        [
            "net 192.0.2.0 - 192.0.2.99 | ripencc | org ORG-EX1-RIPE | owner - | descr Example \
             Widgets | netname \
             EXAMPLE-NET | mnt EXAMPLE-MNT | status ASSIGNED PA | NL+ | 20120531",
            "net 198.51.100.0/24 | ripencc | org - | owner - | descr Wide | netname FIRST | mnt - \
             | status - | - | 0",
            "net 2001:db8::/32 | apnic | org - | owner - | descr - | netname V6 | mnt - | status \
             - | - | 20030303",
            "organisation ORG-EX1-RIPE | ripencc | Example  Widgets | NL",
        ]
    );
    assert_eq!((report.objects, report.ranges, report.organisations), (5, [2, 1], 1));
    assert_eq!((report.rejects.count, report.classes["person"]), (0, 1));
}

const ARIN: &str = "\
NetHandle:      NET-192-0-2-0-1
OrgID:          EX-1
Parent:         NET-192-0-0-0-0
NetName:        EXAMPLE
NetRange:       192.0.2.0 - 192.0.2.255, 198.51.100.0 - 198.51.100.99
NetType:        reassignment
Updated:        1991-04-09
Source:         ARIN

V6NetHandle:    NET6-2001-DB8-1
OrgID:          C00000001
NetName:        V6
NetRange:       2001:0DB8:: - 2001:DB8:FFFF:FFFF:FFFF:FFFF:FFFF:FFFF
NetType:        allocation
Source:         ARIN

OrgID:          EX-1
OrgName:        Example Widgets & Co
Street:         Some street 1
Country:        US
Source:         ARIN

POCHandle:      XX1-ARIN
Country:        US
Source:         ARIN
";

const ARIN_XML: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<bulkwhois xmlns="http://www.arin.net/bulkwhois/core/v1">
<limitExceeded limit="256">false</limitExceeded>
<net><comment><line number="0">x</line></comment>
<endAddress>198.051.100.099</endAddress><handle>NET-192-0-2-0-1</handle><name>EXAMPLE</name>
<netBlocks><netBlock><cidrLenth>24</cidrLenth><endAddress>192.000.002.255</endAddress>
<startAddress>192.000.002.000</startAddress><type>S</type></netBlock>
<netBlock><endAddress>198.051.100.099</endAddress>
<startAddress>198.051.100.000</startAddress><type>S</type></netBlock></netBlocks>
<orgHandle>EX-1</orgHandle><parentNetHandle>NET-192-0-0-0-0</parentNetHandle>
<startAddress>192.000.002.000</startAddress>
<updateDate>1991-04-09T00:00:00-04:00</updateDate><version>4</version></net>
<net><endAddress>2001:0DB8:FFFF:FFFF:FFFF:FFFF:FFFF:FFFF</endAddress>
<handle>NET6-2001-DB8-1</handle><name>V6</name>
<netBlocks><netBlock><endAddress>2001:0DB8:FFFF:FFFF:FFFF:FFFF:FFFF:FFFF</endAddress>
<startAddress>2001:0DB8:0000:0000:0000:0000:0000:0000</startAddress>
<type>DA</type></netBlock></netBlocks>
<customerHandle>C00000001</customerHandle>
<startAddress>2001:0DB8:0000:0000:0000:0000:0000:0000</startAddress>
<version>6</version></net>
<org><handle>EX-1</handle><iso3166-1><code2>US</code2><name>United States</name></iso3166-1>
<name>Example Widgets &amp; Co</name></org>
<poc><handle>XX1-ARIN</handle></poc>
</bulkwhois>
"#;

#[test]
fn arin_says_the_same_as_text_and_as_xml() {
    let (text, _) = objects(Format::ArinText, ARIN.as_bytes()).unwrap();
    let (xml, report) = objects(Format::ArinXml, ARIN_XML.as_bytes()).unwrap();
    let first = "net 192.0.2.0/24 | arin | org EX-1 | owner - | descr - | netname EXAMPLE | mnt - \
     | status reassignment | \
                 - | 19910409";
    let v6 = "net 2001:db8::/32 | arin | org C00000001 | owner - | descr - | netname V6 | mnt - | \
     status allocation | - | 0";
    assert_eq!(text[0], first);
    assert!(
        text[1].starts_with("net 198.51.100.0 - 198.51.100.99 | arin | org EX-1"),
        "{}",
        text[1]
    );
    assert_eq!(text[2], v6);
    assert_eq!(text[3], "organisation EX-1 | arin | Example Widgets & Co | US");
    assert_eq!(xml, text);
    // The element about the limit counts as an object of a kind that is passed over.
    assert_eq!((report.objects, report.rejects.count, report.ranges), (5, 0, [2, 1]));
}

#[test]
fn xml_that_is_cut_short_or_malformed_is_refused() {
    for end in (60..ARIN_XML.len() - 14).step_by(7) {
        let cut = objects(Format::ArinXml, &ARIN_XML.as_bytes()[..end]);
        assert!(cut.is_err(), "cut after {end} bytes");
    }
    let deep = format!("<bulkwhois>{}", "<net>".repeat(1_000_000));
    let error = objects(Format::ArinXml, deep.as_bytes()).unwrap_err().to_string();
    assert!(error.contains("nest more than 64 deep"), "{error}");
    let latin1 = b"<bulkwhois><org><handle>X</handle><name>Citt\xe0</name></org></bulkwhois>";
    let error = objects(Format::ArinXml, latin1).unwrap_err().to_string();
    assert!(error.contains("well-formed"), "{error}");
}

/// The stream is read in blocks of 256 KiB, and whatever lies across their border counts as if
/// there were none.
#[test]
fn where_a_block_ends_within_xml_makes_no_difference() {
    let tail = "<org><handle>EX-2</handle><name>\u{feff}S\u{e3}o &#233; \
     <![CDATA[<a>]]>\u{feff}\u{feff}x</name ></org></bulkwhois>\n";
    let text = ARIN_XML.replace("</bulkwhois>\n", tail);
    let (whole, report) = objects(Format::ArinXml, text.as_bytes()).unwrap();
    assert_eq!(
        whole[4],
        "organisation EX-2 | arin | \u{feff}S\u{e3}o \u{e9} <a>\u{feff}\u{feff}x | -"
    );
    let at = text.find("<net>").unwrap();
    let room = 256 * 1024 - at - "<!---->".len();
    let behind = text.len() - at;
    for behind in (0..behind).step_by(5).chain(behind - 130..behind) {
        let padding = format!("<!--{}-->", "x".repeat(room - behind));
        let (padded, other) =
            objects(Format::ArinXml, [&text[..at], &padding, &text[at..]].concat().as_bytes())
                .unwrap();
        assert_eq!(
            (&padded, other.lines),
            (&whole, report.lines),
            "{behind} bytes before the border"
        );
    }
}

/// An end tag closes what is open, a block's border or not.
#[test]
fn xml_with_crossed_tags_is_refused() {
    let padding = " ".repeat(300 * 1024);
    for between in ["", &padding] {
        for crossed in [
            "<bulkwhois><net></org>",
            "<bulkwhois></bulkwhois></net>",
            "<bulkwhois><net></net></a:bulkwhois>",
        ] {
            let at = crossed.rfind("</").unwrap();
            let text = [&crossed[..at], between, &crossed[at..]].concat();
            let error = objects(Format::ArinXml, text.as_bytes()).unwrap_err();
            assert!(matches!(error, TextError::Xml { .. }), "{crossed}: {error}");
        }
    }
}

#[test]
fn xml_text_without_an_end_is_let_go_of() {
    use std::io::Read;
    let endless =
        Cursor::new("<bulkwhois><net><handle>").chain(BufReader::new(std::io::repeat(b'x')));
    let error = whois::xml::read(endless, &mut |_| {}).unwrap_err();
    assert!(matches!(error, TextError::Read { .. }), "{error:?}");
}

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
    let data = read(&files, Options::default(), &|_| {}).unwrap();
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
    let data = read(&files, Options::default(), &|_| {}).unwrap();
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
    let data = read(&files, Options::default(), &|_| {}).unwrap();
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
    let split = SplitPolicy { v4: Some("20/22".parse().unwrap()), v6: None };
    let options = Options { split, ..Options::default() };
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
        let data = read(&[write(&dir, "arin", &bytes)], Options::default(), &|_| {}).unwrap();
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
