//! Tests of what is remembered of a page.

use model::UnixMillis;
use protocol::page::{ContentHash, Page};

use super::*;
use crate::{frontier::HostNumber, frontier::KnownPage};

const TWICE: Option<Slowdown> = Some(Slowdown { percent: 200, repeats: 2 });

fn item(record: Option<PageRecord>) -> QueueItem {
    let known = record.map(|record| Box::new(KnownPage { revisit_base: UnixMillis(1), record }));
    let url = CrawlUrl::parse("http://a.org/").unwrap();
    QueueItem { host: HostNumber(1), depth: 2, order: 3, url, redirects: 0, attempts: 0, known }
}

fn fetch(outcome: Outcome, ms: u32) -> Fetch {
    let timing = page::Timing {
        connect_us: 500_000,
        tcp_us: 400_000,
        first_byte_us: 0,
        total_us: 500_000 + ms * 1_000,
    };
    let url = "http://a.org/".to_owned();
    Fetch {
        url,
        fetched_at: UnixMillis(9),
        address: None,
        timing: Some(timing),
        wire_bytes: 1_000,
        outcome,
        trend: None,
    }
}

fn page(sha256: u8) -> Outcome {
    Outcome::Page(Page {
        status: 200,
        media_type: "text/html".into(),
        charset: "UTF-8".into(),
        lang: None,
        title: String::new(),
        headings: String::new(),
        text: String::new(),
        sha256: ContentHash([sha256; 32]),
        canonical: None,
        max_snippet: None,
        links: Vec::new(),
    })
}

fn etag(text: &str) -> Validators {
    Validators { etag: Some(text.into()), last_modified: None }
}

/// Visits a page several times; returns the last record and the result of the last visit.
fn visits(times: &[u32]) -> (PageRecord, Fetch) {
    answers(&times.iter().map(|ms| (page(1), *ms)).collect::<Vec<_>>())
}

fn answers(outcomes: &[(Outcome, u32)]) -> (PageRecord, Fetch) {
    let mut last: Option<(PageRecord, Fetch)> = None;
    for (outcome, ms) in outcomes {
        let known = item(last.map(|(record, _)| record));
        let mut fetch = fetch(outcome.clone(), *ms);
        let record = remember(&known, &mut fetch, etag("x"), TWICE).unwrap();
        last = Some((record, fetch));
    }
    last.unwrap()
}

#[test]
fn unchanged_content_is_not_reported_again() {
    let mut first = fetch(page(1), 20);
    let record = remember(&item(None), &mut first, etag("x"), TWICE).unwrap();
    assert!(matches!(first.outcome, Outcome::Page(_)));
    assert_eq!((record.etag.as_deref(), record.depth), (Some("x"), 2));
    assert_eq!(validators(&item(Some(record.clone()))), etag("x"));

    let mut same = fetch(Outcome::Other { status: 304, media_type: None }, 20);
    let kept =
        remember(&item(Some(record.clone())), &mut same, Validators::default(), TWICE).unwrap();
    assert_eq!(
        (same.outcome, kept.etag.as_deref()),
        (Outcome::Unchanged { status: 304 }, Some("x"))
    );

    let mut same = fetch(page(1), 20);
    let kept = remember(&item(Some(record.clone())), &mut same, etag("y"), TWICE).unwrap();
    assert_eq!(
        (same.outcome, kept.etag.as_deref()),
        (Outcome::Unchanged { status: 200 }, Some("y"))
    );

    let mut other = fetch(page(2), 20);
    let kept = remember(&item(Some(record)), &mut other, etag("z"), TWICE).unwrap();
    assert_eq!((other.outcome, kept.sha256), (page(2), Some([2; 32])));
}

#[test]
fn content_is_lost_by_the_time_of_the_visit_and_not_by_the_revisit_base() {
    let (mut record, _) = visits(&[20]);
    record.changes.advance_s = 5;
    let visited_at_5001 = item(Some(record));
    for (lost_before_ms, is_lost) in [(5_001, false), (5_002, true)] {
        let lost_before = LostBefore::default();
        lost_before.set(Some(UnixMillis(lost_before_ms)));
        let page = lost_before.without_lost_content(visited_at_5001.clone());
        assert_eq!(page.known.unwrap().record.has_content(), !is_lost);
    }
}

#[test]
fn pages_that_are_gone_are_not_revisited_and_failures_are() {
    let (record, _) = visits(&[20]);
    let gone = |status| {
        let mut fetch = fetch(Outcome::Other { status, media_type: None }, 20);
        remember(&item(Some(record.clone())), &mut fetch, Validators::default(), TWICE)
    };
    assert_eq!(gone(410), None);
    // The second time it is gone.
    let missing = gone(404);
    assert_eq!(missing, Some(record.clone().forget_content()));
    let mut again = fetch(Outcome::Other { status: 404, media_type: None }, 20);
    assert_eq!(remember(&item(missing), &mut again, Validators::default(), TWICE), None);
    // The index drops it, so that an answer "unchanged" must not follow.
    assert_eq!(gone(451), Some(record.clone().forget_content()));
    for status in [202, 401, 403, 408, 418, 420, 429, 430, 500, 503] {
        assert_eq!(gone(status), Some(record.clone()), "{status}");
    }
    assert_eq!(still_known(&item(Some(record.clone()))), Some(record.clone()));
    let mut unasked = fetch(Outcome::Other { status: 304, media_type: None }, 20);
    assert_eq!(remember(&item(None), &mut unasked, Validators::default(), TWICE), None);
}

#[test]
fn urls_that_fail_at_their_first_visit_are_visited_again() {
    let first = |status| {
        let mut fetch = fetch(Outcome::Other { status, media_type: None }, 20);
        remember(&item(None), &mut fetch, Validators::default(), TWICE)
    };
    let again = Some(PageRecord::without_content("/".into(), 2));
    for status in [202, 403, 418, 429, 500] {
        assert_eq!(first(status), again, "{status}");
    }
    assert_eq!((first(404), first(401)), (None, None));
}

#[test]
fn only_a_url_that_cannot_be_requested_ends_with_its_fetch() {
    let cut = || Problem::Inflate(std::io::ErrorKind::UnexpectedEof.into());
    let again = Some(PageRecord::without_content("/".into(), 2));
    for problem in [Problem::NoTls, cut(), Problem::TooLarge(1), Problem::Closed] {
        assert_eq!(after_failure(&item(None), &problem), again, "{problem}");
    }
    assert_eq!(after_failure(&item(None), &Problem::Request), None);
    let (record, _) = visits(&[20]);
    assert_eq!(after_failure(&item(Some(record.clone())), &cut()), Some(record.clone()));
    let unbuilt = after_failure(&item(Some(record.clone())), &Problem::Request).unwrap();
    assert_eq!((unbuilt.etag, unbuilt.sha256), (None, record.sha256));
}

fn redirected(record: &PageRecord, status: u16, location: &str) -> Option<PageRecord> {
    let mut fetch = fetch(Outcome::Redirect { status, location: location.into() }, 20);
    remember(&item(Some(record.clone())), &mut fetch, Validators::default(), TWICE)
}

#[test]
fn a_page_that_moves_for_good_ends_when_it_redirects_again() {
    let (record, _) = visits(&[20]);
    for status in [301, 308] {
        let kept = redirected(&record, status, "https://a.org/").unwrap();
        assert_eq!(kept, record.clone().forget_content());
        assert_eq!(redirected(&kept, status, "https://a.org/"), None, "{status}");
    }
}

#[test]
fn a_redirect_to_itself_never_ends_a_page() {
    let (record, _) = visits(&[20]);
    let bare = record.clone().forget_content();
    for status in [301, 302, 307, 308] {
        for known in [&record, &bare] {
            let kept = redirected(known, status, "http://a.org/");
            assert_eq!(kept.as_ref(), Some(&bare), "{status}");
        }
    }
}

#[test]
fn a_page_that_is_elsewhere_for_now_is_new_when_it_is_back() {
    let (record, _) = visits(&[20]);
    let kept = redirected(&record, 302, "http://a.org/off").unwrap();
    assert_eq!((kept.sha256, &kept.etag, kept.past), (None, &None, record.past));
    let mut back = fetch(page(1), 20);
    remember(&item(Some(kept)), &mut back, etag("x"), TWICE).unwrap();
    assert_eq!(back.outcome, page(1), "the index has dropped it");
}

#[test]
fn a_page_that_must_not_be_indexed_is_read_as_a_whole_at_its_next_visit() {
    let (record, _) = visits(&[20]);
    let noindex = || Outcome::Disallowed { by: DisallowedBy::NoIndex };
    for wire_bytes in [0, 1_000] {
        let mut fetch = Fetch { wire_bytes, ..fetch(noindex(), 20) };
        let kept = remember(&item(Some(record.clone())), &mut fetch, etag("y"), TWICE).unwrap();
        assert_eq!(fetch.outcome, noindex());
        assert_eq!(validators(&item(Some(kept.clone()))), Validators::default());
        assert_eq!(kept.sha256, None);
        // A head alone is not compared with answers that have a body.
        assert_eq!(kept.past.get == record.past.get, wire_bytes == 0);
    }
}

#[test]
fn a_redirect_that_stays_at_the_page_keeps_it() {
    let moved = |status, location: &str| {
        let outcome = Outcome::Redirect { status, location: location.into() };
        remember(&item(None), &mut fetch(outcome, 20), Validators::default(), TWICE)
    };
    let again = Some(PageRecord::without_content("/".into(), 2));
    for status in [301, 302] {
        assert_eq!(moved(status, "http://a.org/?utm_source=x"), again);
        assert_eq!(moved(status, "http://a.org/off"), None);
    }
}

#[test]
fn a_slower_page_is_reported_after_the_repeats() {
    assert_eq!(visits(&[20; 5]).1.trend, None, "still learning");
    assert_eq!(visits(&[20; 6]).1.trend, Some(page::Trend::Usual));
    let slow: Vec<u32> = [20; 6].into_iter().chain([120]).collect();
    assert_eq!(visits(&slow).1.trend, Some(page::Trend::Slow));
    let slower: Vec<u32> = slow.into_iter().chain([120]).collect();
    let Some(page::Trend::Slower { ratio }) = visits(&slower).1.trend else {
        panic!("not noticed")
    };
    assert!((5.0..7.0).contains(&ratio), "{ratio}: connecting is left out");
}

#[test]
fn answers_without_content_are_compared_with_their_kind() {
    let unchanged = || Outcome::Other { status: 304, media_type: None };
    let mut seen = vec![(page(1), 20)];
    seen.extend((0..6).map(|_| (unchanged(), 5)));
    assert_eq!(answers(&seen).1.trend, Some(page::Trend::Usual));
    // Content takes four times as long as the head, as it always did.
    seen.push((page(2), 20));
    assert_eq!(answers(&seen).1.trend, None, "still learning");
    seen.push((unchanged(), 20));
    assert_eq!(answers(&seen).1.trend, Some(page::Trend::Slow));
    seen.push((unchanged(), 20));
    assert!(matches!(answers(&seen).1.trend, Some(page::Trend::Slower { .. })));
}

#[test]
fn a_page_that_was_content_of_another_kind_for_once_is_fetched_whole() {
    let validators = || Validators { etag: Some("\"2\"".into()), ..Validators::default() };
    let other = || Outcome::Other { status: 200, media_type: Some("text/xml".into()) };
    let mut first = fetch(page(7), 40);
    let record = remember(&item(None), &mut first, validators(), None).unwrap();
    assert!(record.etag.is_some());
    let mut other_kind = fetch(other(), 40);
    let record = remember(&item(Some(record)), &mut other_kind, validators(), None).unwrap();
    assert_eq!((record.etag.clone(), record.sha256), (None, None));
    let mut again = fetch(other(), 40);
    let record = remember(&item(Some(record)), &mut again, validators(), None).unwrap();
    assert!(record.etag.is_some(), "a list is asked for with a condition");
}

#[test]
fn a_file_is_visited_again_only_where_a_page_or_a_sitemap_may_return() {
    let png = fetch(Outcome::Other { status: 200, media_type: Some("image/png".into()) }, 20);
    let is_file = |item: &QueueItem, list| is_file(item, &png, list);
    assert!(is_file(&item(None), None));
    let (record, _) = visits(&[20]);
    assert!(!is_file(&item(Some(record.clone())), None));
    assert!(is_file(&item(Some(record.forget_content())), None));
    let list = ListContent { hash: [0; 8], modified: Vec::new() };
    assert!(!is_file(&item(None), Some(&list)));
    let url = CrawlUrl::parse("http://a.org/sitemap.xml").unwrap();
    assert!(!is_file(&QueueItem { url, ..item(None) }, None));
    let challenge = fetch(Outcome::Other { status: 202, media_type: None }, 20);
    assert!(!super::is_file(&item(None), &challenge, None));
}
