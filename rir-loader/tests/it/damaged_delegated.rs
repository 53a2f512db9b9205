//! Damaged delegated files are refused with the place and the reason.

use rir_loader::TextError;
use rir_loader::read::{Options, ReadError, read};

use crate::fixtures::{gzip, read_bytes, text};

/// A file with one record.
fn one_record(record: &str) -> String {
    format!("2|ripencc|1539467999|1|19830705|20181013|+0200\n{record}\n")
}

fn sentence(bytes: &[u8]) -> String {
    read_bytes(bytes).unwrap_err().to_string()
}

/// A record and its error.
const BAD_RECORDS: [(&str, &str); 16] = [
    (
        "ripencc|FR|ipv4|2.0.0|256|20100712|allocated|a",
        "field start: found `2.0.0`, expected an IPv4 address",
    ),
    (
        "ripencc|FR|ipv4|2.0.0.0|0|20100712|allocated|a",
        "field value: found `0`, expected a number of addresses, from 1, that end by \
         255.255.255.255",
    ),
    (
        "ripencc|FR|ipv4|255.255.255.0|257|20100712|allocated|a",
        "field value: found `257`, expected a number of addresses, from 1, that end by \
         255.255.255.255",
    ),
    (
        "ripencc|FR|ipv6|2.0.0.0|32|20100712|allocated|a",
        "field start: found `2.0.0.0`, expected an IPv6 address",
    ),
    (
        "ripencc|FR|ipv6|2001::|129|20100712|allocated|a",
        "field value: found `129`, expected a prefix length from 0 to 128",
    ),
    (
        "ripencc|FR|ipv6|2001:db8::1|32|20100712|allocated|a",
        "field start: found `2001:db8::1`, expected the first address of a prefix of the length \
         in field value",
    ),
    (
        "ripencc|FR|ipv5|2.0.0.0|32|20100712|allocated|a",
        "field type: found `ipv5`, expected asn, ipv4 or ipv6",
    ),
    (
        "ripencc|FR|ipv4|2.0.0.0|256|2010-07-12|allocated|a",
        "field date: found `2010-07-12`, expected a day as YYYYMMDD, 00000000 or nothing",
    ),
    (
        "ripencc|FR|ipv4|2.0.0.0|256|20101312|allocated|a",
        "field date: found `20101312`, expected a day as YYYYMMDD, 00000000 or nothing",
    ),
    (
        "ripencc|FR|ipv4|2.0.0.0|256|20100712|sold|a",
        "field status: found `sold`, expected allocated, assigned, available or reserved",
    ),
    (
        "ripencc|FRA|ipv4|2.0.0.0|256|20100712|allocated|a",
        "field country: found `FRA`, expected two letters or nothing",
    ),
    (
        "ripe|FR|ipv4|2.0.0.0|256|20100712|allocated|a",
        "field registry: found `ripe`, expected afrinic, apnic, arin, lacnic or ripencc",
    ),
    (
        "arin|FR|ipv4|2.0.0.0|256|20100712|allocated|a",
        "field registry: found `arin`, expected the registry that the header names",
    ),
    (
        "ripencc|FR|ipv4|2.0.0.0|256",
        "field date: found ``, expected another field, but the line ends before it",
    ),
    (
        "ripencc|FR|ipv4|2.0.0.0|256|20100712|allocated|a b",
        "field opaque-id: found `a b`, expected at most 128 visible ASCII characters",
    ),
    ("ripencc|FR|asn|x|1|20100712|allocated|a", "field start: found `x`, expected an AS number"),
];

#[test]
fn a_malformed_field_is_named_with_what_was_expected() {
    for (record, expected) in BAD_RECORDS {
        let shown = sentence(one_record(record).as_bytes());
        assert!(shown.contains(&format!("first line 2: {expected}: `")), "{shown}");
    }
}

#[test]
fn long_and_unprintable_fields_are_shown_cut_and_escaped() {
    let record = format!("ripencc|FR|ipv4|{}\u{7}|1|20100712|allocated|a", "9".repeat(200));
    let shown = sentence(one_record(&record).as_bytes());
    assert!(shown.contains("999…`") && shown.len() < 400, "{shown}");
    let shown = sentence(&[one_record("").as_bytes(), b"ripencc|\xff\x00|ipv4\n"].concat());
    assert!(
        shown.contains("first line 3: field (whole line): found `ripencc|\u{fffd}\\0|ipv4`"),
        "{shown}"
    );
}

#[test]
fn a_bad_header_is_refused() {
    for (header, expected) in [
        ("3|ripencc|1|1|||", "field version: found `3`, expected 2 or 2.x"),
        ("2|iana|1|1|||", "field registry: found `iana`, expected afrinic"),
        ("2|ripencc||1|||", "field serial: found ``, expected up to 20 digits"),
        ("2|ripencc|1|many|||", "field records: found `many`, expected a number of records"),
        ("2|ripencc|1|1||yesterday|", "field end date: found `yesterday`, expected a day"),
    ] {
        let shown = sentence(format!("{header}\n").as_bytes());
        assert!(shown.starts_with(&format!("line 1, {expected}")), "{shown}");
    }
}

#[test]
fn other_files_are_refused() {
    for bytes in [
        &b""[..],
        b"\n\n",
        b"# only a comment\n",
        b"ripencc|*|ipv4|*|72789|summary\n",
        b"<!DOCTYPE html>\n<title>404</title>\n",
    ] {
        assert!(matches!(read_bytes(bytes), Err(TextError::NoHeader { .. })));
    }
    let endless = vec![b'a'; 1 << 20];
    assert!(matches!(read_bytes(&endless), Err(TextError::LongLine { line: 1, .. })));
}

#[test]
fn a_file_cut_short_anywhere_is_refused() {
    for registry in ["afrinic", "apnic", "arin", "lacnic", "ripencc"] {
        let whole = text(registry).into_bytes();
        for end in 0..whole.len() {
            assert!(read_bytes(&whole[..end]).is_err(), "{registry} cut after {end} bytes");
        }
        let compressed = gzip(&whole);
        for end in 0..compressed.len() {
            assert!(read_bytes(&compressed[..end]).is_err(), "{registry}.gz cut after {end} bytes");
        }
    }
}

#[test]
fn the_error_of_a_cut_file_names_the_announced_count() {
    let whole = text("apnic");
    let lines: Vec<_> = whole.lines().collect();
    let shown = sentence(format!("{}\n", lines[..lines.len() - 2].join("\n")).as_bytes());
    let expected =
        "ends after line 18 with 6 records, but promises 8: it was cut short, fetch it again";
    assert_eq!(shown, expected);
    assert_eq!(
        sentence(&whole.as_bytes()[..whole.len() - 5]),
        "ends in the middle of line 20: it was cut short, fetch it again"
    );
    let compressed = gzip(whole.as_bytes());
    let error = read_bytes(&compressed[..compressed.len() / 2]).unwrap_err();
    assert!(matches!(error, TextError::Read { .. }), "{error}");
    assert!(error.to_string().contains("fetch it again"), "{error}");
}

#[test]
fn wrong_counts_are_refused() {
    let more = text("ripencc").replacen("|7|", "|6|", 1);
    assert_eq!(
        sentence(more.as_bytes()),
        "line 11: more records than the 6 it promises; two files in one?"
    );
    let other = text("ripencc").replace("|*|ipv6|*|2|", "|*|ipv6|*|3|");
    assert!(sentence(other.as_bytes()).contains("with 2 records of type ipv6, but promises 3"));
    let two = format!("{}{}", text("ripencc"), text("ripencc"));
    assert!(sentence(two.as_bytes()).contains("two files in one"));
}

#[test]
fn line_ends_of_windows_are_accepted() {
    let dos = text("arin").replace('\n', "\r\n");
    assert_eq!(read_bytes(dos.as_bytes()).unwrap().records(), 6);
}

#[test]
fn a_missing_file_is_refused() {
    let error = read(&["/nowhere/x".into()], Options::default(), &|_| {}).unwrap_err();
    assert_eq!(error.to_string(), "cannot open /nowhere/x");
    assert!(matches!(error, ReadError::Open { .. }));
    assert!(read(&["/tmp".into()], Options::default(), &|_| {}).is_err());
}
