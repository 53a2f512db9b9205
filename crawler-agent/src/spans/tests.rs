use proptest::prelude::*;

use super::*;

fn zone(name: &str) -> TimeZone {
    TimeZone::get(name).unwrap()
}

fn spans(name: &str, lines: &[&str]) -> Spans {
    Spans::new(zone(name), lines.iter().map(|line| line.parse().unwrap()).collect())
}

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

#[test]
fn no_spans_mean_always() {
    let always = spans("UTC", &[]);
    assert!(always.awake(at("2026-11-20T12:00:00Z")));
    assert_eq!(always.next_change(at("2026-11-20T12:00:00Z")), None);
    let covering = spans("UTC", &["daily 00:00-12:00", "daily 12:00-24:00"]);
    assert_eq!(covering.next_change(at("2026-11-20T12:00:00Z")), None);
}

#[test]
fn a_night_span_carries_over_into_the_next_day() {
    // 2026-11-20 is a Friday.
    let nights = spans("UTC", &["fri 22:00-06:00"]);
    assert!(!nights.awake(at("2026-11-20T21:59:59Z")));
    assert!(nights.awake(at("2026-11-20T22:00:00Z")));
    assert!(nights.awake(at("2026-11-21T05:59:59Z")));
    assert!(!nights.awake(at("2026-11-21T06:00:00Z")));
    assert!(!nights.awake(at("2026-11-20T05:00:00Z")), "Thursday night is not listed");
    assert_eq!(nights.next_change(at("2026-11-20T12:00:00Z")), Some(at("2026-11-20T22:00:00Z")));
    assert_eq!(nights.next_change(at("2026-11-20T23:00:00Z")), Some(at("2026-11-21T06:00:00Z")));
    assert_eq!(nights.next_change(at("2026-11-21T06:00:00Z")), Some(at("2026-11-27T22:00:00Z")));
}

#[test]
fn spans_that_touch_are_one() {
    let weekend = spans("UTC", &["fri 20:00-24:00", "sat-sun 00:00-24:00", "mon 00:00-04:00"]);
    assert_eq!(weekend.next_change(at("2026-11-20T21:00:00Z")), Some(at("2026-11-23T04:00:00Z")));
}

#[test]
fn the_zone_of_the_owner_counts() {
    let office = spans("Asia/Kathmandu", &["mon-fri 09:00-17:00"]); // UTC+5:45
    assert!(office.awake(at("2026-11-20T03:15:00Z")));
    assert!(!office.awake(at("2026-11-20T03:14:59Z")));
}

#[test]
fn a_time_shown_twice_counts_twice() {
    // Nicosia, 2026-10-25: at 04:00 EEST (01:00Z) clocks go back to 03:00 EET.
    let s = spans("Europe/Nicosia", &["daily 02:00-03:30"]);
    assert!(s.awake(at("2026-10-25T00:15:00Z")), "03:15, first time");
    assert!(!s.awake(at("2026-10-25T00:45:00Z")), "03:45, first time");
    assert!(s.awake(at("2026-10-25T01:15:00Z")), "03:15, second time");
    assert_eq!(s.next_change(at("2026-10-25T00:45:00Z")), Some(at("2026-10-25T01:00:00Z")));
    assert_eq!(s.next_change(at("2026-10-25T01:15:00Z")), Some(at("2026-10-25T01:30:00Z")));
}

#[test]
fn a_time_never_shown_never_counts() {
    // Nicosia, 2026-03-29: at 03:00 EET (01:00Z) clocks go forward to 04:00 EEST.
    let gone = spans("Europe/Nicosia", &["daily 03:00-04:00"]);
    assert!(!gone.awake(at("2026-03-29T01:00:00Z")));
    assert_eq!(gone.next_change(at("2026-03-28T12:00:00Z")), Some(at("2026-03-30T00:00:00Z")));
    let late = spans("Europe/Nicosia", &["daily 03:30-06:00"]);
    assert_eq!(late.next_change(at("2026-03-28T12:00:00Z")), Some(at("2026-03-29T01:00:00Z")));
}

#[test]
fn half_hour_shifts_are_followed() {
    // Lord Howe Island, 2026-04-05: at 02:00 (+11) clocks go back to 01:30 (+10:30).
    let s = spans("Australia/Lord_Howe", &["daily 01:45-02:00"]);
    assert!(s.awake(at("2026-04-04T14:50:00Z")), "01:50, first time");
    assert!(!s.awake(at("2026-04-04T15:05:00Z")), "01:35, second time");
    assert!(s.awake(at("2026-04-04T15:20:00Z")), "01:50, second time");
}

#[test]
fn days_are_lists_and_ranges() {
    let lists = spans("UTC", &["Sat-Mon 10:00-11:00", "wed,fri 10:00-11:00"]);
    let days: Vec<bool> =
        (16..23).map(|day| lists.awake(at(&format!("2026-11-{day}T10:30:00Z")))).collect();
    assert_eq!(days, [true, false, true, false, true, true, true]);
}

#[test]
fn errors_say_what_is_wrong() {
    let error = |line: &str| line.parse::<Span>().unwrap_err();
    assert_eq!(error("22:00-06:00"), SpanError::Form("22:00-06:00".into()));
    assert_eq!(error("mon 22:00"), SpanError::Form("mon 22:00".into()));
    assert_eq!(error("mo 22:00-23:00"), SpanError::Day("mo".into()));
    assert_eq!(error("mon-xyz 22:00-23:00"), SpanError::Day("xyz".into()));
    for time in ["24:01", "22:60", "2200", "2:00", "-1:00", "+2:00"] {
        assert!(
            matches!(error(&format!("mon 01:00-{time}")), SpanError::Time(_) | SpanError::Form(_)),
            "{time}"
        );
    }
    assert_eq!(error("mon 24:00-01:00"), SpanError::Time("24:00".into()));
    assert_eq!(error("mon 08:00-08:00"), SpanError::Empty("mon 08:00-08:00".into()));
}

fn line() -> impl Strategy<Value = String> {
    let day = prop::sample::select(vec!["mon", "tue-thu", "sat-sun", "sun", "daily", "fri,mon"]);
    (day, 0u16..96, 1u16..=96).prop_filter_map("empty span", |(day, start, end)| {
        let show = |quarter: u16| format!("{:02}:{:02}", quarter / 4, quarter % 4 * 15);
        (start != end).then(|| format!("{day} {}-{}", show(start), show(end)))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// The model looks at every minute of nine days.
    #[test]
    fn the_next_change_is_the_first_minute_with_another_answer(
        lines in prop::collection::vec(line(), 1..4),
        name in prop::sample::select(vec![
            "UTC", "Europe/Nicosia", "Australia/Lord_Howe", "Asia/Kathmandu",
            "America/St_Johns", "America/Santiago",
        ]),
        // Around the days of 2026 on which those zones change their clocks, and one ordinary week.
        day in prop::sample::select(vec![
            "2026-03-06", "2026-03-27", "2026-04-03", "2026-06-10", "2026-09-04", "2026-10-02",
            "2026-10-23", "2026-10-30",
        ]),
        minute in 0i64..2_880,
    ) {
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let spans = spans(name, &lines);
        let start = at(&format!("{day}T00:00:00Z")) + minute.minutes();
        let mut model = (1..9 * 1_440).map(|m: i64| start + m.minutes());
        let expected = model.find(|t| spans.awake(*t) != spans.awake(start));
        let found = spans.next_change(start);
        match expected {
            Some(_) => prop_assert_eq!(found, expected),
            None => prop_assert!(found.is_none_or(|t| t >= start + (9i64 * 1_440).minutes())),
        }
    }
}
