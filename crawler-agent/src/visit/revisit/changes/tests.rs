//! Tests of estimates, by properties and by simulated pages.

use model::{CrawlPolicy, ErrorKind};
use proptest::prelude::*;
use protocol::page::{ContentHash, Failure};

use super::*;

const DAY_S: u32 = 86_400;
/// Those of a new installation.
const SHIPPED: RevisitAges = RevisitAges { least_s: DAY_S, longest_s: 7 * DAY_S };

fn ages(revisit_s: u32, revisit_least_s: u32) -> Option<RevisitAges> {
    RevisitAges::of(&CrawlPolicy { revisit_s, revisit_least_s, ..CrawlPolicy::default() })
}

fn page(text: &str, sha256: u8) -> Outcome {
    Outcome::Page(Page {
        status: 200,
        media_type: "text/html".into(),
        charset: "UTF-8".into(),
        lang: None,
        title: "Title".into(),
        headings: String::new(),
        text: text.into(),
        sha256: ContentHash([sha256; 32]),
        canonical: None,
        max_snippet: None,
        links: Vec::new(),
    })
}

fn fetch(outcome: Outcome) -> Fetch {
    Fetch {
        url: "http://a.org/".into(),
        fetched_at: UnixMillis(1),
        address: None,
        timing: None,
        wire_bytes: 0,
        outcome,
        trend: None,
    }
}

/// The intervals after each visit, in days.
fn intervals(outcomes: Vec<Outcome>) -> Vec<Option<f64>> {
    let mut record = PageRecord::without_content("/".into(), 0);
    let mut days = Vec::new();
    for outcome in outcomes {
        observe(&mut record, &fetch(outcome), None, Some(SHIPPED));
        days.push(record.changes.interval_s.map(|interval_s| f64::from(interval_s) / 86_400.0));
    }
    days
}

#[test]
fn changes_halve_the_interval_and_quiet_visits_lengthen_it() {
    let text = |text| page(text, 1);
    let unchanged = || Outcome::Unchanged { status: 304 };
    let found = intervals(vec![text("1"), text("2"), text("3"), text("4"), text("5")]);
    assert_eq!(found, [None, Some(3.5), Some(1.75), Some(1.0), Some(1.0)]);
    let found = intervals(vec![text("1"), text("2"), unchanged(), unchanged(), unchanged()]);
    assert_eq!(found, [None, Some(3.5), Some(5.25), Some(7.0), Some(7.0)]);
}

#[test]
fn a_body_that_differs_in_what_no_reader_sees_is_unchanged() {
    let found = intervals(vec![page("1", 1), page("2", 2), page("2", 3), page("2", 4)]);
    assert_eq!(found, [None, Some(3.5), Some(5.25), Some(7.0)]);
    // What moves from one part into the next is a change.
    let Outcome::Page(one) = page("a", 1) else { panic!() };
    let other = Page { headings: "a".into(), text: String::new(), ..one.clone() };
    assert_ne!(text_hash(&one), text_hash(&other));
}

#[test]
fn answers_without_content_leave_the_interval() {
    for outcome in [
        Outcome::Failed(Failure::new(ErrorKind::Timeout, "no answer")),
        Outcome::Other { status: 503, media_type: None },
        Outcome::Disallowed { by: protocol::page::DisallowedBy::RobotsTxt },
        Outcome::Other { status: 404, media_type: None },
    ] {
        let found = intervals(vec![page("1", 1), page("2", 2), outcome, page("2", 2)]);
        assert_eq!(found, [None, Some(3.5), Some(3.5), Some(5.25)]);
    }
    // What was there before a file is forgotten: the next page is compared with nothing.
    let file = Outcome::Other { status: 200, media_type: Some("image/png".into()) };
    let found = intervals(vec![page("1", 1), page("2", 2), file, page("2", 2)]);
    assert_eq!(found, [None, Some(3.5), Some(3.5), Some(3.5)]);
}

#[test]
fn lists_have_an_interval_by_what_they_list() {
    let mut record = PageRecord::without_content("/feed".into(), 0);
    let mut days = Vec::new();
    for hash in [1, 1, 2, 3, 3] {
        let list = ListContent { hash: [hash; 8], modified: Vec::new() };
        let outcome = Outcome::Other { status: 200, media_type: Some("text/xml".into()) };
        observe(&mut record, &fetch(outcome), Some(&list), Some(SHIPPED));
        days.push(record.changes.interval_s.map(|interval_s| f64::from(interval_s) / 86_400.0));
    }
    assert_eq!(days, [None, Some(7.0), Some(3.5), Some(1.75), Some(2.625)]);
}

#[test]
fn times_that_say_nothing_of_a_revisit_are_left_out() {
    let now = UnixMillis(1_000 * 86_400_000);
    let after_days = |days: i64| now.plus_ms(days * 86_400_000);
    let list = |days: &[i64]| {
        let modified = days.iter().map(|day| ([*day as u8; 16], after_days(*day)));
        ListContent { hash: [0; 8], modified: modified.collect() }
    };
    let found = stated(list(&[-8, -7, -6, 0, 1, 2]), Some(SHIPPED), now).unwrap();
    let mut times: Vec<UnixMillis> = found.times.into_values().collect();
    times.sort_unstable();
    assert_eq!(times, [-6, 0, 1].map(after_days));
    assert_eq!(stated(list(&[-8, 2]), Some(SHIPPED), now), None);
    assert_eq!(stated(list(&[0]), None, now), None);
}

#[test]
fn without_a_shorter_age_every_page_is_visited_at_the_same_age() {
    for least_s in [7, 8, u32::MAX] {
        let ages = ages(7, least_s).unwrap();
        for has_changed in [false, true] {
            assert_eq!(next_interval_s(ages, None, has_changed), 7);
        }
    }
    assert_eq!(ages(0, 1), None);
    let mut record = PageRecord::without_content("/".into(), 0);
    record.changes.interval_s = Some(3);
    assert_eq!(scheduled(record.clone(), None).changes.advance_s, 0);
    assert_eq!(scheduled(record.clone(), ages(7, 1)).changes.advance_s, 4);
    assert_eq!(scheduled(record, ages(7, 7)).changes.advance_s, 0);
}

proptest! {
    #[test]
    fn the_interval_stays_within_the_ages_and_moves_the_right_way(
        least_s: u32,
        longest_s in 1..=u32::MAX,
        estimate: Option<u32>,
        has_changed: bool,
    ) {
        let ages = ages(longest_s, least_s).unwrap();
        let before = ages.interval_s(estimate);
        let after = next_interval_s(ages, estimate, has_changed);
        prop_assert!((ages.least_s..=ages.longest_s).contains(&after));
        if has_changed {
            prop_assert!(after < before || after == ages.least_s);
        } else {
            prop_assert!(after > before || after == ages.longest_s);
        }
        let mut record = PageRecord::without_content("/".into(), 0);
        record.changes.interval_s = estimate;
        let advance_s = scheduled(record, Some(ages)).changes.advance_s;
        prop_assert_eq!(advance_s, ages.longest_s - before);
    }
}

/// What visits of a page bring that changes at random times.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Figures {
    visits_a_day: f64,
    /// Share of the time in which the search has the page as it is.
    fresh: f64,
    /// Mean age of what the search has, in days: the time since its first change.
    age_days: f64,
}

/// Visits a page whose changes are a Poisson process with this mean period.
fn simulated(period_days: f64, ages: RevisitAges) -> Figures {
    const VISITS: u32 = 20_000;
    let mut random = 1_u64;
    let mut uniform = || {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        ((random >> 33) as f64 + 0.5) / f64::from(1_u32 << 31)
    };
    let mut estimate = None;
    let mut days = 0.0;
    let mut fresh = 0.0;
    let mut age = 0.0;
    for _ in 0..VISITS {
        let interval = f64::from(ages.interval_s(estimate)) / f64::from(DAY_S);
        let change = -period_days * uniform().ln();
        let stale = (interval - change).max(0.0);
        days += interval;
        fresh += interval - stale;
        age += stale * stale / 2.0;
        estimate = Some(next_interval_s(ages, estimate, stale > 0.0));
    }
    Figures { visits_a_day: f64::from(VISITS) / days, fresh: fresh / days, age_days: age / days }
}

/// The table of decision 62.
#[test]
fn pages_that_change_often_are_fresher_and_others_cost_hardly_more() {
    let weekly = RevisitAges { least_s: SHIPPED.longest_s, ..SHIPPED };
    let mut table = Vec::new();
    for period in [0.5, 1.0, 3.0, 10.0, 60.0] {
        for figures in [simulated(period, weekly), simulated(period, SHIPPED)] {
            let Figures { visits_a_day, fresh, age_days } = figures;
            table.push(format!("{period} {visits_a_day:.2} {:.0} {age_days:.2}", fresh * 100.0));
        }
    }
    let expected = [
        "0.5 0.14 7 3.03",
        "0.5 0.94 41 0.25",
        "1 0.14 14 2.64",
        "1 0.82 56 0.23",
        "3 0.14 39 1.65",
        "3 0.51 69 0.36",
        "10 0.14 72 0.69",
        "10 0.24 79 0.41",
        "60 0.14 94 0.13",
        "60 0.16 95 0.12",
    ];
    assert_eq!(table, expected, "days, visits a day, per cent fresh, age in days");
}
