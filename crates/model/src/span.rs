//! Spans: the hours of a week in which an agent may work, as owners write them:
//! `mon-fri 22:00-06:00`.

use std::str::FromStr;

const MINUTES_PER_DAY: u16 = 24 * 60;

/// One weekly span, parsed from text like `mon-fri 22:00-06:00`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    days: [bool; 7],
    start: u16,
    end: u16,
}

impl Span {
    /// Days on which the span starts; Monday first.
    pub fn days(&self) -> [bool; 7] {
        self.days
    }

    /// Minute of the day, 0 to 1439.
    pub fn start(&self) -> u16 {
        self.start
    }

    /// Minute counted from the start day's midnight, above `start`, at most a day later.
    pub fn end(&self) -> u16 {
        self.end
    }
}

const DAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

/// A text that is not a span.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SpanError {
    /// Not days, a space and two times.
    #[error("{0:?} is not a span; write days and times, like \"mon-fri 22:00-06:00\"")]
    Form(String),
    /// A word where a day was expected.
    #[error("{0:?} is not a day; write mon, tue, wed, thu, fri, sat, sun or daily")]
    Day(String),
    /// A text where a time of day was expected.
    #[error("{0:?} is not a time; write hours and minutes, from 00:00 to 24:00")]
    Time(String),
    /// A span that starts and ends at the same time.
    #[error("{0:?} starts when it ends; for the whole day write \"00:00-24:00\"")]
    Empty(String),
}

impl FromStr for Span {
    type Err = SpanError;

    fn from_str(line: &str) -> Result<Self, SpanError> {
        let form = || SpanError::Form(line.to_owned());
        let (days, times) = line.trim().split_once(char::is_whitespace).ok_or_else(form)?;
        let (start, end) = times.trim().split_once('-').ok_or_else(form)?;
        let days = week(&days.to_ascii_lowercase())?;
        let start = minute(start)?;
        let end = minute(end)?;
        // 24:00 is the end of a day and cannot start a span on it.
        if start == MINUTES_PER_DAY {
            return Err(SpanError::Time("24:00".into()));
        }
        if start == end {
            return Err(SpanError::Empty(line.to_owned()));
        }
        let past_midnight = end < start;
        Ok(Self { days, start, end: if past_midnight { end + MINUTES_PER_DAY } else { end } })
    }
}

/// Days in the forms `mon`, `mon-fri`, `sat-mon`, `mon,wed-thu` or `daily`.
fn week(text: &str) -> Result<[bool; 7], SpanError> {
    if text == "daily" {
        return Ok([true; 7]);
    }
    let mut week = [false; 7];
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let first = day(first)?;
        let last = day(last)?;
        // A range may wrap around the end of the week: sat-mon.
        for ahead in 0..=(last + 7 - first) % 7 {
            week[(first + ahead) % 7] = true;
        }
    }
    Ok(week)
}

fn day(word: &str) -> Result<usize, SpanError> {
    DAYS.iter().position(|day| *day == word).ok_or_else(|| SpanError::Day(word.to_owned()))
}

/// Minutes since midnight, 0 to [`MINUTES_PER_DAY`].
fn minute(text: &str) -> Result<u16, SpanError> {
    let number = |t: &str| {
        t.parse::<u16>().ok().filter(|_| t.len() == 2 && t.bytes().all(|b| b.is_ascii_digit()))
    };
    text.trim()
        .split_once(':')
        .and_then(|(hours, minutes)| Some((number(hours)?, number(minutes)?)))
        .filter(|(hours, minutes)| *minutes < 60 && hours * 60 + minutes <= MINUTES_PER_DAY)
        .map(|(hours, minutes)| hours * 60 + minutes)
        .ok_or_else(|| SpanError::Time(text.trim().to_owned()))
}
