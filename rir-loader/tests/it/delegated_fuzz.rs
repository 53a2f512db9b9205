//! Arbitrary bytes as delegated files are read or refused without a panic.

use hierarchy::Registry;
use proptest::prelude::*;
use rir_loader::delegated::{Extent, Record};

use crate::fixtures::{gzip, read_bytes, text};

fn field() -> impl Strategy<Value = String> {
    let words = [
        "ripencc",
        "arin",
        "*",
        "asn",
        "ipv4",
        "ipv6",
        "summary",
        "allocated",
        "ZZ",
        "::",
        "2",
        "2.3",
        "0",
        "",
    ];
    prop_oneof![
        proptest::sample::select(words.to_vec()).prop_map(str::to_owned),
        any::<u32>().prop_map(|n| n.to_string()),
        any::<std::net::Ipv4Addr>().prop_map(|a| a.to_string()),
        any::<std::net::Ipv6Addr>().prop_map(|a| a.to_string()),
        ".{0,12}",
    ]
}

fn line() -> impl Strategy<Value = String> {
    proptest::collection::vec(field(), 0..9).prop_map(|fields| fields.join("|"))
}

proptest! {
    #[test]
    fn any_bytes_as_a_line(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = Record::parse(&bytes);
    }

    #[test]
    fn any_fields_as_a_line(line in line()) {
        let _ = Record::parse(line.as_bytes());
    }

    #[test]
    fn any_bytes_as_a_file(bytes in proptest::collection::vec(any::<u8>(), 0..2000)) {
        let _ = read_bytes(&bytes);
        let _ = read_bytes(&gzip(&bytes));
    }

    #[test]
    fn any_lines_as_a_file(lines in proptest::collection::vec(line(), 0..20)) {
        let _ = read_bytes(format!("{}{}", text("ripencc"), lines.join("\n")).as_bytes());
        let _ = read_bytes(lines.join("\n").as_bytes());
    }

    /// A real file with a few bytes changed, plain and compressed.
    #[test]
    fn damaged_files(
        changes in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 1..6),
    ) {
        for whole in [text("apnic").into_bytes(), gzip(text("afrinic").as_bytes())] {
            let mut damaged = whole.clone();
            for (place, byte) in &changes {
                *place.get_mut(&mut damaged) = *byte;
            }
            let _ = read_bytes(&damaged);
        }
    }

    /// A record in the format has the values that were written.
    #[test]
    fn good_records_are_read(
        registry in proptest::sample::select(Registry::ALL.to_vec()),
        first in any::<u32>(),
        count in 1..=u32::MAX,
        id in proptest::option::of("[!-{}~]{1,128}"),
    ) {
        prop_assume!(first.checked_add(count - 1).is_some());
        let start = std::net::Ipv4Addr::from_bits(first);
        let ending = id.as_ref().map_or_else(String::new, |id| format!("|{id}|e-stats"));
        let line = format!("{registry}|cy|ipv4|{start}|{count}|20101231|assigned{ending}");
        let record = Record::parse(line.as_bytes()).unwrap();
        let Extent::Addresses(range) = record.extent else { panic!("{line}") };
        prop_assert_eq!((range.first(), range.addresses()), (start.into(), u128::from(count)));
        prop_assert!(record.registry == registry && range.is_v4());
        prop_assert_eq!(record.opaque_id, id.as_deref());
        prop_assert_eq!(record.country, "CY".parse().ok());
    }
}
