use jiff::ToSpan as _;

use super::*;

const MIB: u64 = 1 << 20;

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn rules(pages: u64, day: Option<u64>, month: Option<u64>) -> BudgetRules {
    BudgetRules { pages_per_day: pages, bytes_per_day: day, bytes_per_month: month }
}

fn budget(rules: BudgetRules, now: Timestamp) -> Budget {
    Budget::new(rules, TimeZone::get("Europe/Berlin").unwrap(), None, now)
}

#[test]
fn requests_are_refused_until_the_next_day_of_the_zone() {
    let now = at("2026-11-20T12:00:00Z");
    let mut budget = budget(rules(2, None, None), now);
    assert_eq!((budget.request(now), budget.request(now)), (Ok(()), Ok(())));
    let until = clock::unix_millis(at("2026-11-20T23:00:00Z"));
    let used_up = UsedUp { what: BudgetKind::PagesOfDay, until };
    assert_eq!(budget.request(now), Err(used_up));
    assert_eq!(budget.has_room(now), Err(used_up));
    assert!(used_up.to_string().ends_with("until 2026-11-20T23:00:00Z"), "{used_up}");
    assert_eq!(budget.request(at("2026-11-20T23:00:00Z")), Ok(()));
}

#[test]
fn the_budget_that_lasts_longest_is_named() {
    let now = at("2026-11-20T12:00:00Z");
    let mut budget = budget(rules(1, Some(10 * MIB), Some(20 * MIB)), now);
    let what = |budget: &mut Budget, now| budget.used_up(now).map(|used_up| used_up.what);
    assert_eq!(what(&mut budget, now), None);
    budget.request(now).unwrap();
    assert_eq!(what(&mut budget, now), Some(BudgetKind::PagesOfDay));
    budget.count(10 * MIB);
    assert_eq!(what(&mut budget, now), Some(BudgetKind::BytesOfDay));
    let tomorrow = now + 24.hours();
    assert_eq!(what(&mut budget, tomorrow), None);
    budget.count(10 * MIB);
    assert_eq!(what(&mut budget, tomorrow), Some(BudgetKind::BytesOfMonth));
    assert_eq!(what(&mut budget, at("2026-11-30T22:59:59Z")), Some(BudgetKind::BytesOfMonth));
    assert_eq!(what(&mut budget, at("2026-11-30T23:00:00Z")), None);
}

#[test]
fn fewer_fetches_run_near_the_end() {
    let now = at("2026-11-20T12:00:00Z");
    let mut budget = budget(rules(1_000, Some(100 * MIB), None), now);
    budget.count(100 * MIB - 3 * EXPECTED_BYTES);
    for _ in 0..3 {
        assert_eq!(budget.has_room(now), Ok(true));
        budget.start();
    }
    assert_eq!(budget.has_room(now), Ok(false));
    budget.end();
    assert_eq!(budget.has_room(now), Ok(true));
    budget.count(3 * EXPECTED_BYTES);
    assert!(budget.has_room(now).is_err());
}

#[test]
fn reads_stop_before_one_per_cent_too_much() {
    let now = at("2026-11-20T12:00:00Z");
    let mut budget = budget(rules(1_000, None, Some(10 * MIB)), now);
    let mut read = 0;
    loop {
        match budget.read(60_000, now) {
            0 => break,
            bytes => read += bytes,
        }
    }
    assert!((10 * MIB..10 * MIB + 10 * MIB / 100).contains(&read), "{read}");
    budget.unread(1_000);
    assert_eq!(budget.read(60_000, now), 1_000);
}

#[test]
fn a_clock_that_is_set_back_makes_no_new_budget() {
    let mut budget = budget(rules(5, None, Some(10 * MIB)), at("2026-11-01T12:00:00Z"));
    let before = at("2026-10-31T12:00:00Z");
    for _ in 0..5 {
        budget.request(at("2026-11-01T12:00:00Z")).unwrap();
    }
    budget.count(MIB);
    assert!(budget.request(before).is_err());
    assert_eq!(budget.usage(before).month_bytes, MIB);
    // Nor does it stop the agent for longer than until the end of the day that the clock shows.
    let until = budget.used_up(before).unwrap().until;
    assert_eq!(until, clock::unix_millis(at("2026-10-31T23:00:00Z")));
}

#[test]
fn a_clock_that_is_set_back_and_forward_makes_no_new_budget() {
    let right = at("2026-11-20T12:00:00Z");
    let wrong = at("1970-01-01T12:00:00Z");
    let used = |budget: &mut Budget, now| {
        let usage = budget.usage(now);
        (usage.pages, usage.bytes, usage.month_bytes)
    };
    // Once it was ahead, which must not hide what follows.
    let mut budget = budget(rules(50, None, Some(10 * MIB)), at("2031-01-01T12:00:00Z"));
    budget.usage(at("2026-11-18T12:00:00Z"));
    budget.usage(at("2026-11-19T12:00:00Z"));
    budget.count(MIB);
    budget.usage(right);
    budget.request(right).unwrap();
    budget.count(MIB);
    assert_eq!(used(&mut budget, right), (1, MIB, 2 * MIB));
    // Each start begins with the date of the image, and something is sent before the clock is set.
    for starts in 1..4 {
        budget.request(wrong).unwrap();
        assert_eq!(used(&mut budget, right), (1 + starts, MIB, 2 * MIB), "{starts}");
    }
    assert_eq!(used(&mut budget, at("2026-11-21T12:00:00Z")), (0, 0, 2 * MIB));
    assert_eq!(used(&mut budget, at("2026-12-01T12:00:00Z")), (0, 0, 0));
}

#[test]
fn a_clock_that_was_ahead_for_years_does_not_keep_a_budget_used_up() {
    let mut budget = budget(rules(2, None, Some(10 * MIB)), at("2050-05-05T12:00:00Z"));
    let now = at("2026-11-20T12:00:00Z");
    budget.request(now).unwrap();
    budget.request(now).unwrap();
    budget.count(10 * MIB);
    assert!(budget.request(now).is_err());
    assert!(budget.request(at("2026-11-21T12:00:00Z")).is_err(), "the month is used up");
    assert!(budget.request(at("2026-12-01T12:00:00Z")).is_ok());
}

/// What was used of the day and of its month when the clock shows these days, one after another.
fn used_after(budget: &mut Budget, days: &[&str]) -> (u64, u64) {
    let shown = days.iter().map(|day| budget.usage(at(&format!("{day}T12:00:00Z"))));
    let last = shown.last().unwrap();
    (last.pages, last.month_bytes)
}

/// A budget of which a request and a mebibyte were used on this day.
fn used_on(day: &str) -> Budget {
    let now = at(&format!("{day}T12:00:00Z"));
    let mut budget = budget(rules(50, None, Some(10 * MIB)), now);
    budget.request(now).unwrap();
    budget.count(MIB);
    budget
}

#[test]
fn a_clock_that_was_ahead_makes_no_new_budget() {
    // A hardware clock in local time shows the next day each evening, until the clock is set.
    let mut budget = used_on("2026-11-30");
    for _ in 0..3 {
        assert_eq!(used_after(&mut budget, &["2026-12-01"]), (0, 0));
        assert_eq!(used_after(&mut budget, &["2026-11-30"]), (1, MIB));
    }
    assert_eq!(used_after(&mut budget, &["2026-12-01", "2026-12-02"]), (0, 0));
    // The month counts on all of its days.
    let mut budget = used_on("2026-11-29");
    assert_eq!(used_after(&mut budget, &["2026-12-01", "2026-11-30"]), (0, MIB));
}

#[test]
fn a_month_that_the_clock_showed_too_early_begins_with_its_own_use() {
    let mut budget = used_on("2026-12-31");
    assert_eq!(used_after(&mut budget, &["2027-01-01"]), (0, 0));
    budget.request(at("2027-01-01T12:00:00Z")).unwrap();
    assert_eq!(used_after(&mut budget, &["2026-12-31"]), (1, MIB));
    // The machine is off over the end of the year.
    assert_eq!(used_after(&mut budget, &["2027-01-04"]), (0, 0));
}

#[test]
fn days_of_a_clock_that_was_far_ahead_do_not_displace_true_ones() {
    let mut budget = used_on("2026-11-19");
    for day in 1..=4 {
        let now = at(&format!("2050-01-0{day}T12:00:00Z"));
        budget.request(now).unwrap();
    }
    // What was used while the clock was ahead counts for the day on which it is set.
    assert_eq!(used_after(&mut budget, &["2026-11-20"]), (1, MIB));
    budget.request(at("2026-11-20T12:00:00Z")).unwrap();
    assert_eq!(used_after(&mut budget, &["1970-01-01", "2026-11-20"]), (2, MIB));
}

#[test]
fn a_clock_that_is_set_back_twice_makes_no_new_budget() {
    // A machine without a battery starts in 1970, which is still 1969 in America.
    let mut budget = used_on("2026-11-20");
    used_after(&mut budget, &["1969-12-31", "1970-01-01", "1969-12-31"]);
    assert_eq!(used_after(&mut budget, &["2026-11-20"]), (1, MIB));
    // Some days there, on each of which something is used, before it is started again.
    for day in 1..=9 {
        let now = at(&format!("1970-01-0{day}T12:00:00Z"));
        budget.request(now).unwrap();
    }
    budget.usage(at("1970-01-01T12:00:00Z"));
    let (pages, month_bytes) = used_after(&mut budget, &["2026-11-20"]);
    assert!(pages >= 1 && month_bytes == MIB, "{pages} {month_bytes}");
    assert_eq!(used_after(&mut budget, &["2026-11-21"]), (0, MIB));
}

#[test]
fn usage_of_an_earlier_run_counts() {
    let zone = TimeZone::get("Europe/Berlin").unwrap();
    let date = "2026-11-20".parse().unwrap();
    let used = Usage { pages: 5, bytes: 6, month_bytes: 7, ..Usage::none(date) };
    let after = |now: &str| {
        let usage =
            Budget::new(rules(9, None, None), zone.clone(), Some(used), at(now)).usage(at(now));
        (usage.pages, usage.bytes, usage.month_bytes)
    };
    assert_eq!(after("2026-11-20T22:59:59Z"), (5, 6, 7));
    assert_eq!(after("2026-11-20T23:00:00Z"), (0, 0, 7));
    assert_eq!(after("2026-12-20T12:00:00Z"), (0, 0, 0));
    assert_eq!(after("2027-11-20T12:00:00Z"), (0, 0, 0));
}
