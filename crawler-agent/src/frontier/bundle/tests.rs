//! Bundles: what is encoded is decoded, damage is refused, and the format stays.

use delegation::calibration::{Baseline, Timing};
use model::Slowdown;
use proptest::prelude::*;

use super::*;
use crate::frontier::{ChangeRate, PageHistory};

fn baseline(timings: u32) -> Baseline {
    let mut baseline = Baseline::default();
    for n in 0..timings {
        let ms = 40.0 + f64::from(n * 7 % 11);
        let bytes = 7_000 + u64::from(n * 13 % 17) * 10;
        baseline.observe(Slowdown::default(), Timing { ms, bytes });
    }
    baseline
}

fn page(n: u32) -> (UnixMillis, PageRecord) {
    let hash = |seed: u32| -> [u8; 32] {
        std::array::from_fn(|place| {
            let mixed = (seed + 1).wrapping_mul(2_654_435_761).rotate_left(place as u32);
            (mixed >> 11) as u8
        })
    };
    let record = PageRecord {
        path: format!("/articles/{}/{n}.html", n % 17),
        depth: (n % 5) as u16,
        etag: n.is_multiple_of(2).then(|| format!("\"{:x}\"", n.wrapping_mul(2_654_435_761))),
        last_modified: n.is_multiple_of(3).then(|| "Sat, 21 Nov 2026 10:00:00 GMT".into()),
        sha256: (!n.is_multiple_of(7)).then(|| hash(n)),
        past: PageHistory { get: baseline(n % 12), head: baseline(n % 3) },
        changes: ChangeRate {
            text_hash: (!n.is_multiple_of(7)).then_some([n as u8; 8]),
            interval_s: n.is_multiple_of(2).then_some(n * 1_000),
            advance_s: n % 3 * 1_000,
        },
    };
    (UnixMillis(1_795_000_000_000 + i64::from(n) * 1_001), record)
}

fn bundle(queued: u32, pages: u32) -> HostBundle {
    let url = |n: u32| QueuedUrl {
        path: format!("/queue/{n}?page={}", n * 3).into(),
        depth: (n / 100) as u16,
        redirects: (n % 3) as u8,
        attempts: (n % 2) as u8,
    };
    let record = HostRecord {
        key: "http://a.example:8080".into(),
        due: UnixMillis(1_795_000_100_000),
        accepted: queued + pages + 3,
        ended: 2,
        failures: 1,
    };
    HostBundle {
        record,
        queue: (0..queued).map(url).collect(),
        pages: (0..pages).map(page).collect(),
        seen: vec![1, 2, u64::MAX],
    }
}

/// The bundle with its times as an encoded one has them.
fn rounded(bundle: &HostBundle) -> HostBundle {
    HostBundle::decode(&bundle.encode().unwrap()).unwrap()
}

#[test]
fn what_is_encoded_is_decoded() {
    let original = bundle(300, 200);
    let decoded = rounded(&original);
    assert_eq!(decoded.record, original.record);
    assert_eq!(decoded.queue, original.queue);
    assert_eq!(decoded.seen, original.seen);
    for ((visited, page), (was_visited, was)) in decoded.pages.iter().zip(&original.pages) {
        assert_eq!(visited, was_visited);
        let without_times =
            |page: &PageRecord| PageRecord { past: PageHistory::default(), ..page.clone() };
        assert_eq!(without_times(page), without_times(was));
        assert_eq!(page.past.get.is_learning(), was.past.get.is_learning());
    }
    assert_eq!(rounded(&decoded), decoded, "another handover changes nothing");
}

#[test]
fn a_host_of_ten_thousand_urls_takes_less_than_a_megabyte() {
    let bytes = bundle(4_000, 6_000).encode().unwrap().len();
    assert!(bytes < 1_000_000, "{bytes} bytes");
}

/// A bundle as version 2 of the format has it.
const GOLDEN: &str = include_str!("golden.hex");

#[test]
fn version_2_stays_readable() {
    let bytes = data_encoding::HEXLOWER.decode(GOLDEN.trim().as_bytes()).unwrap();
    let golden = HostBundle::decode(&bytes).unwrap();
    assert_eq!(golden, rounded(&bundle(3, 5)));
}

fn refused(bytes: &[u8]) -> String {
    HostBundle::decode(bytes).unwrap_err().to_string()
}

#[test]
fn foreign_and_damaged_bytes_are_refused() {
    assert!(refused(b"").contains("begin"));
    assert!(refused(b"nchb 1\nabc").contains("of version 2"));
    assert!(refused(b"nchb 3\nabc").contains("of version 2"));
    assert!(refused(b"nchb 2\nabc").contains("decompressed"));
    let bytes = bundle(10, 10).encode().unwrap();
    assert!(refused(&bytes[..bytes.len() - 1]).contains("decompressed"));
}

#[test]
fn paths_that_are_not_of_the_host_or_not_normal_are_left_out() {
    for path in ["x", "/a/../b", "/a#b", "@evil.example/", ""] {
        let good = rounded(&bundle(3, 3));
        let mut bad = bundle(3, 3);
        bad.queue[1].path = path.into();
        bad.pages[1].1.path = path.into();
        let read = HostBundle::decode(&bad.encode().unwrap()).unwrap();
        assert_eq!(read.queue, [good.queue[0].clone(), good.queue[2].clone()], "{path}");
        assert_eq!(read.pages, [good.pages[0].clone(), good.pages[2].clone()], "{path}");
    }
    for host in ["ftp://a.example", "http://a.example/", "a.example", ""] {
        let mut bad = bundle(1, 1);
        bad.record.key = host.into();
        assert!(refused(&bad.encode().unwrap()).contains("is no host"), "{host}");
    }
}

#[test]
fn validators_that_no_server_can_have_sent_are_left_out() {
    let mut bad = bundle(0, 3);
    let long = "x".repeat(300);
    for (page, etag) in bad.pages.iter_mut().zip(["\"a\n\"", "\"é\"", &long]) {
        page.1.etag = Some(etag.into());
        page.1.last_modified = Some("soon".into());
    }
    let read = HostBundle::decode(&bad.encode().unwrap()).unwrap();
    for ((_, read), (_, bad)) in read.pages.iter().zip(&bad.pages) {
        assert_eq!((&read.etag, read.last_modified.as_deref()), (&None, Some("soon")));
        assert_eq!(read.sha256, bad.sha256);
    }
}

#[test]
fn a_bomb_is_refused_before_it_takes_memory() {
    let plain = vec![0_u8; MAX_PLAIN_BYTES as usize + 1];
    let frame = zstd::bulk::compress(&plain, ZSTD_LEVEL).unwrap();
    assert!(refused(&[MAGIC.as_slice(), &frame].concat()).contains("decompressed"));
}

proptest! {
    #[test]
    fn no_damage_panics(position in 0..4_000_usize, value: u8) {
        let mut bytes = bundle(20, 20).encode().unwrap();
        let position = position % bytes.len();
        bytes[position] = value;
        // The checksum notices nearly all damage; what passes is a valid bundle.
        if let Ok(decoded) = HostBundle::decode(&bytes) {
            decoded.encode().unwrap();
        }
    }

    #[test]
    fn damaged_content_gives_an_error_or_a_valid_bundle(position in 0..4_000_usize, value: u8) {
        let mut plain = postcard::to_allocvec(&Columns::of_bundle(&bundle(20, 20))).unwrap();
        let position = position % plain.len();
        plain[position] = value;
        let frame = zstd::bulk::compress(&plain, ZSTD_LEVEL).unwrap();
        if let Ok(decoded) = HostBundle::decode(&[MAGIC.as_slice(), &frame].concat()) {
            let again = HostBundle::decode(&decoded.encode().unwrap()).unwrap();
            prop_assert_eq!(again.queue, decoded.queue);
        }
    }
}

#[test]
fn lists_without_end_are_refused_before_they_take_memory() {
    // A record, a queue of no URLs, and pages whose every list says that it is very long.
    let record = postcard::to_allocvec(&bundle(0, 0).record).unwrap();
    let many = postcard::to_allocvec(&(MAX_URLS + 1)).unwrap();
    let plain = [record, vec![0; 4], many, vec![0; 2 * MAX_URLS]].concat();
    let frame = zstd::bulk::compress(&plain, ZSTD_LEVEL).unwrap();
    let error = HostBundle::decode(&[MAGIC.as_slice(), &frame].concat()).unwrap_err();
    assert!(matches!(error, BundleError::Content(postcard::Error::SerdeDeCustom)), "{error:?}");
}

#[test]
fn a_bundle_that_nobody_takes_is_not_made() {
    let mut large = bundle(33, 0);
    for (number, url) in large.queue.iter_mut().enumerate() {
        url.path = format!("/{number}?{}", "a".repeat(2 << 20)).into();
    }
    assert!(matches!(large.encode(), Err(BundleError::TooLarge)));
}
