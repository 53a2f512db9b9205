//! Budgets: what was used in a day and in a month of the owner's zone, and what is left.
//!
//! A request counts when it starts, bytes count when they are read or written. Near the end of a
//! budget of bytes fewer fetches run at the same time, so that what they read on average fits into
//! the rest and they end normally. Should they be larger, the last ones are cut off before the
//! budget is passed by one per cent.

use std::fmt;

use jiff::{Timestamp, ToSpan as _, civil::Date, tz::TimeZone};
use model::UnixMillis;
use serde::{Deserialize, Serialize};

use super::calendar::Day;
use crate::{clock, config::BudgetRules};

/// Bytes that a fetch is expected to take at most; part of a small budget is less.
const EXPECTED_BYTES: u64 = 128 << 10;
/// Part of a budget of bytes, at most, that a fetch is expected to take.
const EXPECTED_PART: u64 = 100;
/// Part of a budget of bytes by which it may be passed: below one per cent, because requests that
/// are under way are still sent.
const EXCESS_PART: u64 = 128;

/// Other days of which is known what was used: a clock that is wrong shows some.
const OTHER_DAYS: usize = 4;
/// Those of them that are kept of a clock that was ahead.
const DAYS_AHEAD: usize = 2;

/// What was used in the present day and month.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// The day, in the owner's zone; its month is the month.
    pub date: Date,
    /// Requests of the day.
    pub pages: u64,
    /// Bytes of the day.
    pub bytes: u64,
    /// Bytes of the month.
    pub month_bytes: u64,
    /// What was used of other days that the clock has shown, the latest ones.
    pub others: [Option<DayUsage>; OTHER_DAYS],
}

/// What was used of a day, and in its month, when the clock left it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DayUsage {
    date: Date,
    pages: u64,
    bytes: u64,
    month_bytes: u64,
}

/// A budget that is used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UsedUp {
    /// What is used up.
    pub what: BudgetKind,
    /// When there is a new one.
    pub until: UnixMillis,
}

/// What can be used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BudgetKind {
    /// The requests of a day.
    PagesOfDay,
    /// The bytes of a day.
    BytesOfDay,
    /// The bytes of a month.
    BytesOfMonth,
}

/// The budgets, and what was used of them.
#[derive(Debug, Clone)]
pub struct Budget {
    rules: BudgetRules,
    zone: TimeZone,
    today: Day,
    usage: Usage,
    /// Fetches that are running.
    running: u64,
}

impl Usage {
    /// Nothing used on this day and in its month.
    pub fn none(date: Date) -> Self {
        Self { date, pages: 0, bytes: 0, month_bytes: 0, others: [None; OTHER_DAYS] }
    }

    /// What of this was used on `date` and in its month. A clock that was wrong does not make
    /// budgets new: what was used before it was set back counts for the earlier day, too, and what
    /// was used of a day stays used when the clock shows that day again.
    fn on(self, date: Date) -> Self {
        if date == self.date {
            return self;
        }
        let month_bytes = if is_same_month(date, self.date) { self.month_bytes } else { 0 };
        let is_set_back = date < self.date;
        let new = if is_set_back { self } else { Self { month_bytes, ..Self::none(date) } };
        // A jump over days, after the clock has shown later ones: until then it was wrong, and all
        // was used on these. A later month that is near may be a true one, whose budget is new.
        let is_jump = self.date.tomorrow().is_ok_and(|tomorrow| tomorrow < date);
        let left = self.day();
        let was_wrong = |other: Date| {
            is_jump
                && other > left.date
                && (is_same_month(other, left.date) || is_months_later(left.date, other))
        };
        let others = self.others.into_iter().flatten();
        let others =
            others.map(|other| if was_wrong(other.date) { other.at_least(left) } else { other });
        let others: Vec<DayUsage> = others.collect();
        let new = others.iter().fold(Self { date, ..new }, |new, other| new.at_least(*other));
        Self { others: latest(others, left, date), ..new }
    }

    /// The day without the others.
    pub(super) fn day(self) -> DayUsage {
        let Self { date, pages, bytes, month_bytes, .. } = self;
        DayUsage { date, pages, bytes, month_bytes }
    }

    /// At least what was used of this day and its month when the clock showed them before.
    fn at_least(self, before: DayUsage) -> Self {
        let is_same_day = before.date == self.date;
        let day = |used: u64| if is_same_day { used } else { 0 };
        let month = if is_same_month(before.date, self.date) { before.month_bytes } else { 0 };
        Self {
            pages: self.pages.max(day(before.pages)),
            bytes: self.bytes.max(day(before.bytes)),
            month_bytes: self.month_bytes.max(month),
            ..self
        }
    }
}

impl DayUsage {
    fn at_least(self, other: Self) -> Self {
        Self {
            pages: self.pages.max(other.pages),
            bytes: self.bytes.max(other.bytes),
            month_bytes: self.month_bytes.max(other.month_bytes),
            ..self
        }
    }

    fn is_used(&self) -> bool {
        self.pages > 0 || self.bytes > 0 || self.month_bytes > 0
    }
}

/// The days that are kept of these and of the day that the clock leaves for `date`: two later than
/// both, which a clock that was ahead has shown, and the latest of the others. Early days are those
/// of machines that start in 1970. Neither may displace the true ones.
fn latest(others: Vec<DayUsage>, left: DayUsage, date: Date) -> [Option<DayUsage>; OTHER_DAYS] {
    let others = others.into_iter().filter(|other| ![left.date, date].contains(&other.date));
    let days = others.chain(left.is_used().then_some(left));
    let newest = left.date.max(date);
    let (mut ahead, mut days): (Vec<_>, Vec<_>) = days.partition(|day| day.date > newest);
    ahead.sort_unstable_by_key(|day| day.date);
    ahead.truncate(DAYS_AHEAD);
    days.sort_unstable_by_key(|day| std::cmp::Reverse(day.date));
    let kept: Vec<DayUsage> = ahead.into_iter().chain(days).collect();
    std::array::from_fn(|number| kept.get(number).copied())
}

/// Whether more than a month lies between two days.
fn is_months_later(one: Date, other: Date) -> bool {
    one.checked_add(31.days()).is_ok_and(|month_later| month_later < other)
}

fn is_same_month(one: Date, other: Date) -> bool {
    (one.year(), one.month()) == (other.year(), other.month())
}

impl Budget {
    /// Budgets at the time `now`, of which `usage` was used before.
    pub fn new(rules: BudgetRules, zone: TimeZone, usage: Option<Usage>, now: Timestamp) -> Self {
        let today = Day::of(now, &zone);
        let usage = usage.map_or(Usage::none(today.date), |usage| usage.on(today.date));
        Self { rules, zone, today, usage, running: 0 }
    }

    /// What was used of the present day and month.
    pub fn usage(&mut self, now: Timestamp) -> Usage {
        if !self.today.holds(now) {
            self.today = Day::of(now, &self.zone);
            self.usage = self.usage.on(self.today.date);
        }
        self.usage
    }

    /// What was used of the day and month of the last question.
    pub fn last_usage(&self) -> Usage {
        self.usage
    }

    /// The budget that is used up, if any; the one that lasts longest.
    pub fn used_up(&mut self, now: Timestamp) -> Option<UsedUp> {
        let usage = self.usage(now);
        let rules = &self.rules;
        let spent = |used: u64, limit: Option<u64>| {
            limit.is_some_and(|limit| used.saturating_add(expected(limit)) > limit)
        };
        let (what, until) = if spent(usage.month_bytes, rules.bytes_per_month) {
            (BudgetKind::BytesOfMonth, self.today.month_ends)
        } else if spent(usage.bytes, rules.bytes_per_day) {
            (BudgetKind::BytesOfDay, self.today.ends)
        } else if usage.pages >= rules.pages_per_day {
            (BudgetKind::PagesOfDay, self.today.ends)
        } else {
            return None;
        };
        Some(UsedUp { what, until: clock::unix_millis(until) })
    }

    /// Whether a fetch may start in addition to those that are running, which may use the rest. An
    /// error if none may start until a later time.
    pub fn has_room(&mut self, now: Timestamp) -> Result<bool, UsedUp> {
        if let Some(used_up) = self.used_up(now) {
            return Err(used_up);
        }
        let fetches = self.running + 1;
        let fits = |used: u64, limit: Option<u64>| {
            limit.is_none_or(|limit| used + fetches.saturating_mul(expected(limit)) <= limit)
        };
        let fits = fits(self.usage.bytes, self.rules.bytes_per_day)
            && fits(self.usage.month_bytes, self.rules.bytes_per_month)
            && self.usage.pages + fetches <= self.rules.pages_per_day;
        Ok(fits)
    }

    /// Notes that a fetch starts.
    pub fn start(&mut self) {
        self.running += 1;
    }

    /// Notes that a fetch has ended.
    pub fn end(&mut self) {
        self.running = self.running.saturating_sub(1);
    }

    /// Counts a request that is about to be sent; an error if none may be.
    pub fn request(&mut self, now: Timestamp) -> Result<(), UsedUp> {
        if let Some(used_up) = self.used_up(now) {
            return Err(used_up);
        }
        self.usage.pages += 1;
        Ok(())
    }

    /// Counts the bytes of a read, at most `wanted`; returns how many may be read, zero if none.
    pub fn read(&mut self, wanted: u64, now: Timestamp) -> u64 {
        let usage = self.usage(now);
        let left = |used: u64, limit: Option<u64>| {
            limit.map_or(u64::MAX, |limit| (limit + limit / EXCESS_PART).saturating_sub(used))
        };
        let bytes = wanted
            .min(left(usage.bytes, self.rules.bytes_per_day))
            .min(left(usage.month_bytes, self.rules.bytes_per_month));
        self.count(bytes);
        bytes
    }

    /// Takes bytes back that were counted and then not read.
    pub fn unread(&mut self, bytes: u64) {
        self.usage.bytes = self.usage.bytes.saturating_sub(bytes);
        self.usage.month_bytes = self.usage.month_bytes.saturating_sub(bytes);
    }

    /// Counts bytes that were sent.
    pub fn count(&mut self, bytes: u64) {
        self.usage.bytes = self.usage.bytes.saturating_add(bytes);
        self.usage.month_bytes = self.usage.month_bytes.saturating_add(bytes);
    }
}

/// Bytes that a fetch is expected to take of a budget.
fn expected(limit: u64) -> u64 {
    (limit / EXPECTED_PART).min(EXPECTED_BYTES)
}

impl fmt::Display for UsedUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.what {
            BudgetKind::PagesOfDay => "requests of this day",
            BudgetKind::BytesOfDay => "bytes of this day",
            BudgetKind::BytesOfMonth => "bytes of this month",
        };
        write!(f, "the {what} are used up, until {}", clock::timestamp(self.until))
    }
}

#[cfg(test)]
mod tests;
