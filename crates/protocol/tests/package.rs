//! Packages: entries survive the round trip, and forged or damaged packages are refused.
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::io::Write as _;

use data_encoding::HEXLOWER;
use flate2::{Compression, write::GzEncoder};
use model::{AgentId, UnixMillis};
use proptest::prelude::*;
use protocol::{
    key::AgentKey, key::Purpose, package::Header, package::PackageBuilder, package::PackageError,
    package::PackageName, package::ValueError, package::Written, package::open, page::Discovered,
    page::Entry, page::Fetch, page::Outcome, page::Page, page::Timing, page::Trend,
};
use sha2::{Digest as _, Sha256};

const NAME: PackageName = PackageName { agent: AgentId::new(3), epoch: 11, seq: 1 };

fn key() -> AgentKey {
    AgentKey::from_seed([5; 32])
}

fn page(url: &str, text: &str) -> Entry {
    Entry::Fetch(Box::new(Fetch {
        url: url.into(),
        fetched_at: UnixMillis(1_700_000_000_000),
        address: Some([192, 0, 2, 1].into()),
        timing: Some(Timing {
            connect_us: 100,
            tcp_us: 100,
            first_byte_us: 2_000,
            total_us: 3_000,
        }),
        wire_bytes: 512,
        outcome: Outcome::Page(Page {
            status: 200,
            media_type: "text/html".into(),
            charset: "UTF-8".into(),
            lang: Some("el".into()),
            title: "Τίτλος".into(),
            text: text.into(),
            sha256: "00".repeat(32),
            links: 4,
        }),
        trend: None,
    }))
}

fn discovered(url: &str) -> Entry {
    Entry::Discovered(Discovered { url: url.into(), redirects: 0, handed_back: false })
}

fn write(entries: &[Entry]) -> Written {
    let mut builder = PackageBuilder::default();
    for entry in entries {
        builder.push(entry).unwrap();
    }
    builder.finish(NAME, UnixMillis(1_700_000_000_500), &key()).unwrap()
}

/// A package with any body and any promises in its header, validly signed by a dishonest agent.
fn forge(plain: &[u8], entries: u32, plain_bytes: u64) -> Vec<u8> {
    let mut gz = GzEncoder::new(Vec::new(), Compression::best());
    gz.write_all(plain).unwrap();
    let body = gz.finish().unwrap();
    let body_sha256 = HEXLOWER.encode(&Sha256::digest(&body));
    let header = Header { name: NAME, created: UnixMillis(0), entries, plain_bytes, body_sha256 };
    let json = serde_json::to_vec(&header).unwrap();
    let length = u32::try_from(json.len()).unwrap().to_be_bytes();
    let signature = key().sign(Purpose::Package, &json).to_bytes();
    [b"NCPK\x01".as_slice(), &length, &json, &signature, &body].concat()
}

fn read(bytes: &[u8]) -> Result<Vec<Entry>, PackageError> {
    open(bytes, &key().public())?.entries().collect()
}

#[test]
fn entries_survive_the_round_trip() {
    let entries = vec![page("http://a.example/", "κείμενο\nδύο"), discovered("http://b.example/")];
    let written = write(&entries);
    assert_eq!(written.header.entries, 2);
    assert_eq!(read(&written.bytes).unwrap(), entries);
}

#[test]
fn urls_of_fetches_are_normalised() {
    for (sent, read_as) in [
        (r"http://own.example\@victim.example/x", "http://own.example/@victim.example/x"),
        ("HTTP://Own.Example:80/a/../b#top", "http://own.example/b"),
        ("no url", "no url"),
    ] {
        assert_eq!(read(&write(&[page(sent, "")]).bytes).unwrap(), [page(read_as, "")]);
    }
}

#[test]
fn the_wire_format_is_fixed() {
    let entry = page("http://a.example/", "text");
    insta::assert_json_snapshot!(entry);
    insta::assert_json_snapshot!(Header {
        name: NAME,
        created: UnixMillis(1_700_000_000_500),
        entries: 1,
        plain_bytes: 57,
        body_sha256: "ab".repeat(32),
    });
}

#[test]
fn a_package_signed_by_another_key_is_refused() {
    let written = write(&[discovered("http://b.example/")]);
    let stranger = AgentKey::from_seed([6; 32]).public();
    assert!(matches!(open(&written.bytes, &stranger), Err(PackageError::Signature(_))));
}

#[test]
fn a_bomb_is_refused_before_or_while_it_inflates() {
    let zeros = vec![b' '; 4 << 20];
    let promised = forge(&zeros, 1, zeros.len() as u64);
    assert!(matches!(read(&promised), Err(PackageError::Bomb(_))));
    let hidden = forge(&zeros, 1, 10);
    assert!(matches!(read(&hidden), Err(PackageError::Bomb(10))));
}

#[test]
fn the_number_of_entries_is_checked() {
    let line = b"{\"discovered\":{\"url\":\"http://b.example/\",\"redirects\":0}}\n";
    let length = line.len() as u64;
    assert!(matches!(
        read(&forge(line, 2, length)),
        Err(PackageError::EntryCount { promised: 2, found: 1 })
    ));
    let two = [line.as_slice(), line].concat();
    assert!(matches!(
        read(&forge(&two, 1, 2 * length)),
        Err(PackageError::EntryCount { promised: 1, .. })
    ));
    assert!(matches!(read(&forge(b"{}\n", 1, 3)), Err(PackageError::Entry { number: 1, .. })));
}

/// A fetch of `page` with one value changed.
fn changed(change: impl FnOnce(&mut Fetch)) -> Entry {
    let Entry::Fetch(mut fetch) = page("http://a.example/", "text") else { unreachable!() };
    change(&mut fetch);
    Entry::Fetch(fetch)
}

#[test]
fn values_that_no_column_holds_are_refused() {
    let slower = |ratio| Some(Trend::Slower { ratio });
    let refused = [
        (changed(|fetch| fetch.wire_bytes = 1 << 63), ValueError::WireBytes(1 << 63)),
        (changed(|fetch| fetch.wire_bytes = 1 << 62), ValueError::WireBytes(1 << 62)),
        (changed(|fetch| fetch.url = "http://a.example/\0".into()), ValueError::ControlCharacter),
        (changed(|fetch| fetch.trend = slower(0.0)), ValueError::Slowdown),
        (changed(|fetch| fetch.trend = slower(1e300)), ValueError::Slowdown),
        (discovered("http://b.example/\0"), ValueError::ControlCharacter),
    ];
    for (entry, expected) in refused {
        let error = read(&write(&[discovered("http://b.example/"), entry]).bytes).unwrap_err();
        assert!(
            matches!(error, PackageError::Value { number: 2, source } if source == expected),
            "{error:?}"
        );
    }
    let largest = changed(|fetch| fetch.wire_bytes = protocol::limits::FETCH_WIRE_BYTES);
    assert_eq!(read(&write(std::slice::from_ref(&largest)).bytes).unwrap(), [largest]);
}

proptest! {
    #[test]
    fn no_bytes_make_the_reader_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let _ = read(&bytes);
        let _ = read(&[b"NCPK\x01".as_slice(), &bytes].concat());
    }

    #[test]
    fn one_changed_byte_is_noticed(at in any::<prop::sample::Index>(), bit in 0_u8..8) {
        let entries = [discovered("http://b.example/"), page("http://a.example/", "text")];
        let mut bytes = write(&entries).bytes;
        let at = at.index(bytes.len());
        bytes[at] ^= 1 << bit;
        prop_assert!(read(&bytes).is_err());
    }

    #[test]
    fn any_text_survives(text in ".*", url in "http://[a-z]{1,20}/[a-z/]{0,40}") {
        let entries = vec![page(&url, &text)];
        prop_assert_eq!(read(&write(&entries).bytes).unwrap(), entries);
    }
}
