//! Dumps in every format, written for these tests after the registries' descriptions.

use std::io::{BufReader, Cursor};

use rir_loader::TextError;
use rir_loader::format::Format;
use rir_loader::whois::{self, Object, WhoisReport};

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

pub(crate) const ARIN: &str = "\
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

pub(crate) const ARIN_XML: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
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
