//! Packages: entries survive the round trip, and forged or damaged packages are refused.
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::{ops::Deref, slice};

use data_encoding::HEXLOWER;
use model::{AgentId, ErrorKind, UnixMillis};
use proptest::prelude::*;
use protocol::{
    key::AgentKey,
    key::Purpose,
    limits,
    package::{
        BlockError, FinishedPackage, Header, PackageError, PackageName, ValueError, build,
        encode_entry, open,
    },
    page::{ContentHash, Discovered, Entry, Failure, Fetch, Link, Outcome, Page, Timing, Trend},
};
use rand::SeedableRng as _;
use sha2::{Digest as _, Sha256};

const NAME: PackageName = PackageName { agent: AgentId::new(3), epoch: 11, seq: 1 };

fn key() -> AgentKey {
    AgentKey::from_seed([5; 32])
}

fn link(url: &str, anchor: &str, nofollow: bool) -> Link {
    Link { url: url.into(), anchor: anchor.into(), nofollow, ..Link::default() }
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
            headings: String::new(),
            text: text.into(),
            sha256: ContentHash([7; 32]),
            canonical: Some("http://a.example/canonical".into()),
            max_snippet: Some(160),
            links: vec![
                link("http://a.example/next", "Επόμενο", false),
                link("https://c.example/", "", true),
            ],
        }),
        trend: None,
    }))
}

fn discovered(url: &str) -> Entry {
    Entry::Discovered(Discovered { url: url.into(), redirects: 0, handed_back: false })
}

fn write(entries: &[Entry<impl Deref<Target = str>>]) -> FinishedPackage {
    build(entries, NAME, UnixMillis(1_700_000_000_500), &key()).unwrap()
}

/// A package with any body and any promises in its header, validly signed by a dishonest agent.
fn forge(plain: &[u8], entries: u32, plain_bytes: u64) -> Vec<u8> {
    let body = zstd::bulk::compress(plain, 1).unwrap();
    let body_sha256 = HEXLOWER.encode(&Sha256::digest(&body));
    let created = UnixMillis(0);
    let header = Header { name: NAME, created, entries, plain_bytes, body_sha256 };
    let json = serde_json::to_vec(&header).unwrap();
    let length = u32::try_from(json.len()).unwrap().to_be_bytes();
    let signature = key().sign(Purpose::Package, &json).to_bytes();
    [b"NCPK\x06".as_slice(), &length, &json, &signature, &body].concat()
}

/// A block as it stands in a body.
fn with_length(block: &[u8]) -> Vec<u8> {
    [&u32::try_from(block.len()).unwrap().to_be_bytes(), block].concat()
}

/// The only block of a package with this entry.
fn block_of(entry: &Entry) -> Vec<u8> {
    let bytes = write(slice::from_ref(entry)).bytes;
    let (length, rest) = bytes[5..].split_first_chunk::<4>().unwrap();
    let body = &rest[u32::from_be_bytes(*length) as usize + 64..];
    zstd::decode_all(body).unwrap().split_off(4)
}

fn read(bytes: &[u8]) -> Result<Vec<Entry>, PackageError> {
    open(bytes, &key().public())?.entries()?.collect()
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
    insta::assert_snapshot!(HEXLOWER.encode(&block_of(&entry)));
    insta::assert_json_snapshot!(Header {
        name: NAME,
        created: UnixMillis(1_700_000_000_500),
        entries: 1,
        plain_bytes: 57,
        body_sha256: "ab".repeat(32),
    });
}

/// Agents find these bytes in their files: other ones need new versions of the frontier's file and
/// of its log.
#[test]
fn the_stored_format_is_fixed() {
    let slower = changed(|fetch| fetch.trend = Some(Trend::Slower { ratio: 2.5 }));
    let failure = Failure::new(ErrorKind::Timeout, "no answer");
    let failed = changed(|fetch| fetch.outcome = Outcome::Failed(failure));
    let entries = [slower, failed, discovered("http://b.example/")];
    let stored = entries.each_ref().map(|entry| HEXLOWER.encode(&encode_entry(entry)));
    insta::assert_snapshot!(stored.join("\n"));
}

#[test]
fn headings_survive_the_round_trip() {
    let with_headings = changed(|fetch| {
        let Outcome::Page(page) = &mut fetch.outcome else { unreachable!() };
        page.headings = "One\nTwo".into();
    });
    let entries = [page("http://a.example/", "text"), with_headings];
    assert_eq!(read(&write(&entries).bytes).unwrap(), entries);
    let rows = entries.each_ref().map(encode_entry);
    let stored = rows.each_ref().map(|row| Entry::read(row).unwrap());
    assert_eq!(write(&stored), write(&entries));
}

#[test]
fn links_do_not_multiply_a_long_host() {
    let on_host_of = |length: usize| {
        let url = format!("http://{}/", "a".repeat(length - "http://".len()));
        changed(|fetch| {
            let Outcome::Page(page) = &mut fetch.outcome else { unreachable!() };
            page.links = vec![link(&url, "", false); 5];
            fetch.url = url;
        })
    };
    let longest = on_host_of(2_048);
    assert_eq!(read(&write(slice::from_ref(&longest)).bytes).unwrap(), [longest]);
    let error = read(&write(&[on_host_of(2_049)]).bytes).unwrap_err();
    let PackageError::Block { source: BlockError::Host(2_049), .. } = error else {
        panic!("{error:?}")
    };
}

#[test]
fn an_unchanged_page_takes_a_few_bytes() {
    let mut rng = rand::rngs::StdRng::seed_from_u64(1);
    let mut at = 1_700_000_000_000;
    let visits: Vec<Entry> = (0..1_000)
        .map(|number| {
            at += rng.random_range(1_000..1_100);
            let first_byte_us = rng.random_range(20_000..40_000);
            changed(|fetch| {
                fetch.url = format!("http://a.example/articles/{number}/index.html");
                fetch.fetched_at = UnixMillis(at);
                fetch.wire_bytes = 0;
                fetch.outcome = Outcome::Unchanged { status: 304 };
                fetch.trend = Some(Trend::Usual);
                let total_us = first_byte_us + rng.random_range(10..90);
                let reused = Timing { connect_us: 0, tcp_us: 15_000, first_byte_us, total_us };
                fetch.timing = Some(reused);
            })
        })
        .collect();
    let bytes = write(&visits).bytes.len();
    assert!(bytes <= 16 * visits.len(), "{bytes} bytes");
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
    let body = with_length(&block_of(&discovered("http://b.example/")));
    for hidden in 1..body.len() {
        let refused = read(&forge(&body, 1, hidden as u64));
        assert!(matches!(refused, Err(PackageError::LongerThanPromised)), "{refused:?}");
    }
}

#[test]
fn the_number_of_entries_is_checked() {
    let one = with_length(&block_of(&discovered("http://b.example/")));
    let length = one.len() as u64;
    assert!(matches!(
        read(&forge(&one, 2, length)),
        Err(PackageError::EntryCount { promised: 2, found: 1 })
    ));
    let two = one.repeat(2);
    assert!(matches!(
        read(&forge(&two, 1, 2 * length)),
        Err(PackageError::EntryCount { promised: 1, .. })
    ));
    let longer = with_length(&[&block_of(&discovered("http://b.example/"))[..], &[0]].concat());
    let refused = read(&forge(&longer, 1, longer.len() as u64));
    let Err(PackageError::Block { source: BlockError::Column, .. }) = refused else {
        panic!("{refused:?}")
    };
    let broken = with_length(b"{}");
    let refused = read(&forge(&broken, 1, broken.len() as u64));
    assert!(matches!(refused, Err(PackageError::Block { number: 1, .. })), "{refused:?}");
}

#[test]
fn a_page_with_too_many_links_is_refused() {
    let with_links = |count: u32| {
        let link = Link { url: "http://b.example/".into(), ..Link::default() };
        changed(|fetch| {
            let Outcome::Page(page) = &mut fetch.outcome else { unreachable!() };
            page.links = vec![link; count as usize];
        })
    };
    let most = with_links(limits::PAGE_LINKS);
    assert_eq!(read(&write(slice::from_ref(&most)).bytes).unwrap(), [most]);
    let error = read(&write(&[with_links(limits::PAGE_LINKS + 1)]).bytes).unwrap_err();
    let PackageError::Block { source: BlockError::Links(10_001), .. } = error else {
        panic!("{error:?}")
    };
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
        let error = read(&write(&[entry]).bytes).unwrap_err();
        assert!(
            matches!(error, PackageError::Value { number: 1, source } if source == expected),
            "{error:?}"
        );
    }
    let largest = changed(|fetch| fetch.wire_bytes = limits::FETCH_WIRE_BYTES);
    assert_eq!(read(&write(slice::from_ref(&largest)).bytes).unwrap(), [largest]);
}

proptest! {
    #[test]
    fn no_bytes_make_the_reader_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let _ = read(&bytes);
        let _ = read(&[b"NCPK\x06".as_slice(), &bytes].concat());
        let _ = Entry::read(&bytes);
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
    fn a_damaged_block_is_read_or_refused(at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut block = block_of(&page("http://a.example/", "text"));
        let at = at.index(block.len());
        let body = with_length(&block[..at]);
        prop_assert!(read(&forge(&body, 1, body.len() as u64)).is_err());
        block[at] = byte;
        let body = with_length(&block);
        let _ = read(&forge(&body, 1, body.len() as u64));
    }

    #[test]
    fn stored_entries_are_read(text in ".*", at in any::<prop::sample::Index>()) {
        for entry in [page("http://a.example/", &text), discovered("http://b.example/")] {
            let stored = encode_entry(&entry);
            let read = Entry::read(&stored).unwrap();
            prop_assert_eq!(write(&[read]), write(&[entry]));
            prop_assert!(Entry::read(&stored[..at.index(stored.len())]).is_err());
            prop_assert!(Entry::read(&[&stored[..], &[0]].concat()).is_err());
        }
    }

    #[test]
    fn any_text_survives(text in ".*", url in "http://[a-z]{1,20}/[a-z/]{0,40}") {
        let entries = vec![page(&url, &text)];
        prop_assert_eq!(read(&write(&entries).bytes).unwrap(), entries);
    }
}
