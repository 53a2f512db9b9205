//! Revisits: conditional requests, detection of changes, and comparison of a page's response times
//! with its own past (IPMicra section III.F).

use std::time::Duration;

use delegation::calibration::{Comparison, Sensitivity, Timing};
use model::{CrawlUrl, Slowdown, UnixMillis};
use protocol::{page, page::DisallowedBy, page::Fetch, page::Outcome};

use super::{Visitor, robots};
use crate::{
    clock,
    fetch::{Problem, Validators},
    frontier::{PageHistory, PageRecord, QueueItem},
};

impl Visitor {
    /// Time until the revisit of a page that was visited at `visited`; none when the operator wants
    /// no revisits.
    pub(super) fn until_visit(&self, visited: UnixMillis) -> Option<Duration> {
        let period = self.revisit_period()?;
        if clock::is_wrong(visited, clock::now()) {
            return Some(Duration::ZERO);
        }
        let due = visited.plus_ms(i64::try_from(period.as_millis()).unwrap_or(i64::MAX));
        Some(clock::until(due))
    }

    /// Age at which a page is visited again; none when the operator wants no revisits.
    pub fn revisit_period(&self) -> Option<Duration> {
        let seconds = self.policy.borrow().revisit_s;
        (seconds > 0).then(|| Duration::from_secs(seconds.into()))
    }
}

/// Validators of the last answer, for a conditional request.
pub(super) fn validators(item: &QueueItem) -> Validators {
    let record = item.known.as_ref().map(|known| &known.record);
    Validators {
        etag: record.and_then(|record| record.etag.clone()),
        last_modified: record.and_then(|record| record.last_modified.clone()),
    }
}

/// The unchanged record of a page whose visit failed; it is visited again like the others.
pub(super) fn still_known(item: &QueueItem) -> Option<PageRecord> {
    item.known.as_ref().map(|known| known.record.clone())
}

/// The record of a URL whose visit failed for a reason that may end. It is visited again like the
/// pages of its host.
pub(super) fn known_or_new(item: &QueueItem) -> PageRecord {
    still_known(item).unwrap_or_else(|| {
        PageRecord::without_content(item.url.path_and_query().to_owned(), item.depth)
    })
}

/// The record of a URL whose fetch failed. A URL that does not fit into a request never will, but
/// without its validators the request may. Bodies change, and this machine may load its
/// certificates again.
pub(super) fn after_failure(item: &QueueItem, problem: &Problem) -> Option<PageRecord> {
    match problem {
        Problem::Request => {
            still_known(item).map(|record| PageRecord { etag: None, last_modified: None, ..record })
        }
        _ => Some(known_or_new(item)),
    }
}

/// The record of a page for its next visit; none where the answer is no page. Completes `fetch`:
/// unchanged content becomes [`Outcome::Unchanged`], and the time is compared with the page's past.
pub(super) fn remember(
    item: &QueueItem,
    fetch: &mut Fetch,
    validators: Validators,
    slowdown: Option<Slowdown>,
) -> Option<PageRecord> {
    let before = still_known(item);
    // A 304 carries no body, so its times are compared with other answers of that kind only.
    let head_alone = match fetch.outcome {
        Outcome::Other { status: 304, .. } => true,
        Outcome::Disallowed { .. } => fetch.wire_bytes == 0,
        _ => false,
    };
    let mut record = match (&fetch.outcome, before) {
        (Outcome::Other { status: 304, .. }, Some(before)) => {
            fetch.outcome = Outcome::Unchanged { status: 304 };
            before
        }
        (Outcome::Page(page), before) => {
            let status = page.status;
            let sha256 = Some(page.sha256.0);
            let same = before.as_ref().is_some_and(|before| before.sha256 == sha256);
            if same {
                fetch.outcome = Outcome::Unchanged { status };
            }
            PageRecord { sha256, ..fresh(item, before, validators) }
        }
        // Without validators the next answer is whole, so that it shows whether noindex is lifted.
        (Outcome::Disallowed { by: DisallowedBy::NoIndex }, before) => {
            fresh(item, before, Validators::default())
        }
        (Outcome::Other { status: 200..300, .. }, before) => fresh(item, before, validators),
        (outcome, before) => return without_content(item, outcome, before),
    };
    fetch.trend = slowdown.zip(fetch.timing).and_then(|(slowdown, timing)| {
        let timing = Timing { ms: answer_ms(timing), bytes: fetch.wire_bytes };
        let PageHistory { get, head } = &mut record.past;
        let past = if head_alone { head } else { get };
        reported(past.observe(&sensitivity(slowdown), timing))
    });
    Some(record)
}

/// The record of a URL that brought no content; none where it will not bring any.
fn without_content(
    item: &QueueItem,
    outcome: &Outcome,
    before: Option<PageRecord>,
) -> Option<PageRecord> {
    match outcome {
        // The page is gone, or at another URL.
        Outcome::Other { status: 404 | 410, .. } | Outcome::Redirect { status: 301 | 308, .. } => {
            robots::may_name(item).then(|| known_or_new(item).forget_content())
        }
        // A server that is overloaded, broken or guarded against crawlers says nothing of the page.
        Outcome::Other { status: 403 | 408 | 425 | 429 | 500.., .. } => Some(known_or_new(item)),
        // The frontier drops the record where it queues the target instead of it. Where the chain
        // is too long, such as without cookies, the page is visited again.
        Outcome::Redirect { location, .. }
            if CrawlUrl::parse(location).is_ok_and(|target| leads_back(item, &target)) =>
        {
            Some(known_or_new(item).forget_content())
        }
        // The page is somewhere else for now, such as during maintenance, or a court or an
        // authority forbids to show it. The index drops it.
        Outcome::Redirect { .. } | Outcome::Other { status: 451, .. } => {
            before.map(PageRecord::forget_content)
        }
        Outcome::Other { .. } => before,
        _ => None,
    }
}

/// Whether the target of a redirect counts as the URL itself, as where a server that gets no
/// cookies writes its session into the URL.
pub(super) fn leads_back(item: &QueueItem, target: &CrawlUrl) -> bool {
    target.fingerprint() == item.url.fingerprint()
}

fn fresh(item: &QueueItem, before: Option<PageRecord>, validators: Validators) -> PageRecord {
    PageRecord {
        path: item.url.path_and_query().to_owned(),
        depth: item.depth,
        etag: validators.etag,
        last_modified: validators.last_modified,
        sha256: None,
        past: before.map_or_else(PageHistory::default, |before| before.past),
    }
}

/// Time from sending the request to the end of the answer. Setting up the connection is left out,
/// because fetches over a kept connection have none.
fn answer_ms(timing: page::Timing) -> f64 {
    f64::from(timing.total_us.saturating_sub(timing.connect_us)) / 1_000.0
}

fn sensitivity(slowdown: Slowdown) -> Sensitivity {
    Sensitivity { factor: f64::from(slowdown.percent) / 100.0, repeats: slowdown.repeats }
}

fn reported(comparison: Comparison) -> Option<page::Trend> {
    match comparison {
        Comparison::Learning => None,
        Comparison::Normal => Some(page::Trend::Usual),
        Comparison::Slow => Some(page::Trend::Slow),
        Comparison::Slower { ratio } => Some(page::Trend::Slower { ratio }),
    }
}

#[cfg(test)]
mod tests {
    use model::UnixMillis;
    use protocol::page::{ContentHash, Page};

    use super::*;
    use crate::{frontier::HostNumber, frontier::KnownPage};

    const TWICE: Option<Slowdown> = Some(Slowdown { percent: 200, repeats: 2 });

    fn item(record: Option<PageRecord>) -> QueueItem {
        let known = record.map(|record| Box::new(KnownPage { visited: UnixMillis(1), record }));
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
    fn pages_that_are_gone_are_not_revisited_and_failures_are() {
        let (record, _) = visits(&[20]);
        let gone = |status| {
            let mut fetch = fetch(Outcome::Other { status, media_type: None }, 20);
            remember(&item(Some(record.clone())), &mut fetch, Validators::default(), TWICE)
        };
        assert_eq!((gone(404), gone(410)), (None, None));
        // The index drops it, so that an answer "unchanged" must not follow.
        assert_eq!(gone(451), Some(record.clone().forget_content()));
        for status in [401, 403, 408, 429, 500, 503] {
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
        assert_eq!((first(500), first(429), first(403)), (again.clone(), again.clone(), again));
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
        assert!(Problem::NoTls.is_temporary() && !cut().is_temporary());
    }

    #[test]
    fn a_page_that_is_elsewhere_for_now_is_new_when_it_is_back() {
        let (record, _) = visits(&[20]);
        let moved = |status| {
            let outcome = Outcome::Redirect { status, location: "http://a.org/off".into() };
            let mut fetch = fetch(outcome, 20);
            remember(&item(Some(record.clone())), &mut fetch, Validators::default(), TWICE)
        };
        assert_eq!((moved(301), moved(308)), (None, None));
        let kept = moved(302).unwrap();
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
    fn a_redirect_that_stays_at_the_page_for_now_keeps_it() {
        let moved = |status, location: &str| {
            let outcome = Outcome::Redirect { status, location: location.into() };
            remember(&item(None), &mut fetch(outcome, 20), Validators::default(), TWICE)
        };
        let again = Some(PageRecord::without_content("/".into(), 2));
        assert_eq!(moved(302, "http://a.org/?utm_source=x"), again);
        assert_eq!(moved(301, "http://a.org/?utm_source=x"), None);
        assert_eq!(moved(302, "http://a.org/off"), None);
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
}
