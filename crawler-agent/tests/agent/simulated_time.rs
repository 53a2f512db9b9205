//! The owner's hours and budgets over simulated days and months in which clocks change.
//!
//! Hours, budgets and readiness are the agent's; the fetches are made up, and the time is a number.
//! What happened is judged by the clock on the owner's wall alone.

use std::collections::BTreeMap;

use crawler_agent::{
    agent::readiness::{Readiness, Sleep},
    config::BudgetRules,
    owner::{
        allowance::Allowance,
        budget::{Budget, BudgetKind},
    },
    spans::Spans,
};
use jiff::{SignedDuration, Timestamp, civil::Date, tz::TimeZone};
use model::AgentState;

const MIB: u64 = 1 << 20;
/// Fetches at the same time.
const CONCURRENCY: usize = 16;
/// Nights, in which clocks change, and a part of the weekend.
const SPANS: [&str; 2] = ["daily 22:00-06:30", "sat-sun 10:00-14:15"];

/// What the wall clock of the owner saw.
#[derive(Default)]
struct Seen {
    requests: BTreeMap<Date, u64>,
    bytes: BTreeMap<Date, u64>,
    months: BTreeMap<(i16, i8), u64>,
    used_up: BTreeMap<Date, BudgetKind>,
    /// Steps in a span, and those of them without a running fetch.
    steps_in_span: u64,
    idle_in_span: u64,
}

struct World {
    zone: TimeZone,
    rules: BudgetRules,
    allowance: Allowance,
    readiness: Readiness,
    /// Bytes that each running fetch has still to read.
    running: Vec<u64>,
    /// Bytes that a fetch reads in a step.
    bytes_a_step: u64,
    chance: u64,
    seen: Seen,
}

fn spans(zone: &TimeZone) -> Spans {
    Spans::new(zone.clone(), SPANS.iter().map(|line| line.parse().unwrap()).collect())
}

/// Whether the owner's wall clock shows a time within [`SPANS`].
fn is_in_span(zone: &TimeZone, at: Timestamp) -> bool {
    let clock = zone.to_datetime(at);
    let minute = i32::from(clock.hour()) * 60 + i32::from(clock.minute());
    let weekend = clock.weekday().to_monday_zero_offset() >= 5;
    !(6 * 60 + 30..22 * 60).contains(&minute)
        || weekend && (10 * 60..14 * 60 + 15).contains(&minute)
}

impl World {
    fn new(zone: &str, rules: BudgetRules, start: Timestamp, bytes_a_step: u64) -> Self {
        let zone = TimeZone::get(zone).unwrap();
        let budget = Budget::new(rules, zone.clone(), None, start);
        let allowance = Allowance::new(spans(&zone), budget, start);
        let readiness = Readiness { state: Some(AgentState::Approved), ..Readiness::default() };
        let running = Vec::new();
        let seen = Seen::default();
        Self { zone, rules, allowance, readiness, running, bytes_a_step, chance: 7, seen }
    }

    /// A pseudo-random number below `end`.
    fn below(&mut self, end: u64) -> u64 {
        self.chance = self.chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.chance >> 33) % end
    }

    /// The agent looks at the clock at the beginning of a step, and works at some time within it.
    fn step(&mut self, from: Timestamp, length: SignedDuration) {
        self.readiness.asleep = self.allowance.asleep(from);
        self.readiness.used_up = self.allowance.budget.used_up(from);
        let millis = self.below(length.as_millis() as u64).cast_signed();
        let now = from + SignedDuration::from_millis(millis);
        self.read(now);
        while self.running.len() < CONCURRENCY && self.readiness.idle_reason().is_none() {
            match self.allowance.may_start(now) {
                Ok(true) => self.start(now),
                Ok(false) => break,
                Err(withheld) => self.readiness.withhold(withheld),
            }
        }
        let in_span = is_in_span(&self.zone, now);
        self.seen.steps_in_span += u64::from(in_span);
        self.seen.idle_in_span += u64::from(in_span && self.running.is_empty());
        if let Some(used_up) = self.readiness.used_up {
            self.seen.used_up.insert(self.zone.to_datetime(now).date(), used_up.what);
        }
    }

    fn start(&mut self, now: Timestamp) {
        self.allowance.request(now).unwrap();
        self.allowance.budget.start();
        let is_large = self.below(50) == 0;
        let bytes = if is_large { self.below(10 * MIB) } else { 2_000 + self.below(100_000) };
        self.running.push(bytes);
        assert!(is_in_span(&self.zone, now), "a request starts at {now}");
        *self.seen.requests.entry(self.zone.to_datetime(now).date()).or_default() += 1;
    }

    fn read(&mut self, now: Timestamp) {
        let date = self.zone.to_datetime(now).date();
        for mut left in std::mem::take(&mut self.running) {
            let wanted = left.min(self.bytes_a_step);
            let read = self.allowance.budget.read(wanted, now);
            *self.seen.bytes.entry(date).or_default() += read;
            *self.seen.months.entry((date.year(), date.month())).or_default() += read;
            left -= read;
            if left > 0 && read > 0 {
                self.running.push(left);
            } else {
                self.allowance.budget.end();
            }
        }
    }

    /// The process is replaced by another one, which knows what is in the usage file.
    fn restart(&mut self, now: Timestamp) {
        let usage = self.allowance.budget.usage(now);
        let budget = Budget::new(self.rules, self.zone.clone(), Some(usage), now);
        self.allowance = Allowance::new(spans(&self.zone), budget, now);
        self.running.clear();
    }

    /// Lets this much time pass in steps of `length`, with a restart every few hours.
    fn run(&mut self, start: Timestamp, hours: i64, length: SignedDuration) {
        let mut now = start;
        let mut restart = start;
        while now < start + SignedDuration::from_hours(hours) {
            if now >= restart {
                self.restart(now);
                restart = now + SignedDuration::from_mins(170);
            }
            self.step(now, length);
            now += length;
        }
        self.judge();
    }

    /// No budget was passed by more than one per cent.
    fn judge(&self) {
        let within = |used: u64, limit: u64| used * 100 <= limit * 101;
        for (date, requests) in &self.seen.requests {
            assert!(*requests <= self.rules.pages_per_day, "{date}: {requests} requests");
        }
        for (date, bytes) in &self.seen.bytes {
            assert!(within(*bytes, self.rules.bytes_per_day.unwrap()), "{date}: {bytes} bytes");
        }
        for (month, bytes) in &self.seen.months {
            let limit = self.rules.bytes_per_month.unwrap();
            assert!(within(*bytes, limit), "{month:?}: {bytes} bytes");
        }
    }
}

fn at(zone: &str, date: &str) -> Timestamp {
    let date: Date = date.parse().unwrap();
    date.to_zoned(TimeZone::get(zone).unwrap()).unwrap().timestamp()
}

/// Both days of 2026 on which each zone changes its clocks.
const CHANGES: [(&str, [&str; 2]); 3] = [
    ("Europe/Berlin", ["2026-03-29", "2026-10-25"]),
    ("America/New_York", ["2026-03-08", "2026-11-01"]),
    ("Australia/Lord_Howe", ["2026-04-05", "2026-10-04"]),
];

/// With more to give than is taken, only the hours stop the agent, and the next ones start it.
#[test]
fn spans_on_days_on_which_clocks_change() {
    for (zone, dates) in CHANGES {
        for date in dates {
            let start = at(zone, date) - SignedDuration::from_hours(12);
            let plenty = Some(1 << 50);
            let rules = BudgetRules {
                pages_per_day: 1 << 30,
                bytes_per_day: plenty,
                bytes_per_month: plenty,
            };
            let mut world = World::new(zone, rules, start, 40_000);
            world.run(start, 48, SignedDuration::from_secs(1));
            assert!(world.seen.used_up.is_empty(), "{zone} {date}");
            let Seen { steps_in_span, idle_in_span, .. } = world.seen;
            assert!(steps_in_span > 9 * 3_600, "{zone} {date}: {steps_in_span}");
            // One step at most at the beginning of each span.
            assert!(idle_in_span <= 4, "{zone} {date}: idle in a span {idle_in_span} times");
        }
    }
}

#[test]
fn budgets_on_days_on_which_clocks_change() {
    for (zone, dates) in CHANGES {
        for date in dates {
            let start = at(zone, date) - SignedDuration::from_hours(12);
            let rules = BudgetRules {
                pages_per_day: 100_000,
                bytes_per_day: Some(900 * MIB),
                bytes_per_month: Some(100_000 * MIB),
            };
            let mut world = World::new(zone, rules, start, 40_000);
            world.run(start, 48, SignedDuration::from_secs(1));
            let day: Date = date.parse().unwrap();
            let Seen { bytes, used_up, .. } = &world.seen;
            assert_eq!(used_up.get(&day), Some(&BudgetKind::BytesOfDay), "{zone} {date}");
            // The rest of a budget is less than one large page.
            assert!(bytes[&day] > 890 * MIB, "{zone} {date}: {bytes:?}");
            assert!(world.seen.requests[&day.yesterday().unwrap()] > 0, "{zone} {date}");
        }
    }
}

#[test]
fn months_in_which_clocks_change() {
    for (zone, first, month) in [
        ("Europe/Berlin", "2026-09-25", (2026, 10)),
        ("America/New_York", "2026-10-25", (2026, 11)),
        ("Australia/Lord_Howe", "2026-09-25", (2026, 10)),
    ] {
        let start = at(zone, first);
        let rules = BudgetRules {
            pages_per_day: 1_000,
            bytes_per_day: Some(160 * MIB),
            bytes_per_month: Some(3_000 * MIB),
        };
        let mut world = World::new(zone, rules, start, 400_000);
        world.run(start, 40 * 24, SignedDuration::from_secs(10));
        let Seen { months, requests, used_up, .. } = &world.seen;
        assert!(months[&month] > 2_990 * MIB, "{zone}: {months:?}");
        for what in [BudgetKind::PagesOfDay, BudgetKind::BytesOfDay, BudgetKind::BytesOfMonth] {
            assert!(used_up.values().any(|spent| *spent == what), "{zone}: {what:?}");
        }
        let fetched_on =
            |year, month, day| requests.contains_key(&Date::constant(year, month, day));
        let (year, month) = month;
        assert!(fetched_on(year, month, 1) && !fetched_on(year, month, 29), "{zone}");
        assert!(fetched_on(year, month + 1, 1), "{zone}: a new month, a new budget");
    }
}

/// The reason names the end of the night's rest on the night in which clocks go forward.
#[test]
fn the_end_of_sleep_is_that_of_the_wall_clock() {
    let start = at("Europe/Berlin", "2026-03-28") + SignedDuration::from_hours(12);
    let rules = BudgetRules { pages_per_day: 1, bytes_per_day: None, bytes_per_month: None };
    let mut world = World::new("Europe/Berlin", rules, start, 1);
    let until =
        |at: &str| Some(model::UnixMillis(at.parse::<Timestamp>().unwrap().as_millisecond()));
    let noon = world.allowance.asleep("2026-03-27T11:00:00Z".parse().unwrap());
    assert_eq!(noon, Some(Sleep { until: until("2026-03-27T21:00:00Z") }));
    let morning = world.allowance.asleep("2026-03-29T04:30:00Z".parse().unwrap());
    assert_eq!(morning, Some(Sleep { until: until("2026-03-29T08:00:00Z") }));
    assert_eq!(world.allowance.asleep("2026-03-29T04:29:59Z".parse().unwrap()), None);
}
