//! Reading a span as an owner writes it: `mon-fri 22:00-06:00`.

use super::{DAY, Span};

const DAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

/// A span that can't be understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SpanError {
    /// Not days, a space and two times.
    #[error("{0:?} is not a span; write days and times, like \"mon-fri 22:00-06:00\"")]
    Form(String),
    /// A word that is not a day.
    #[error("{0:?} is not a day; write mon, tue, wed, thu, fri, sat, sun or daily")]
    Day(String),
    /// Not a time of day.
    #[error("{0:?} is not a time; write hours and minutes, from 00:00 to 24:00")]
    Time(String),
    /// Starts and ends at the same time.
    #[error("{0:?} starts when it ends; for the whole day write \"00:00-24:00\"")]
    Empty(String),
}

pub(super) fn span(line: &str) -> Result<Span, SpanError> {
    let form = || SpanError::Form(line.to_owned());
    let (days, times) = line.trim().split_once(char::is_whitespace).ok_or_else(form)?;
    let (start, end) = times.trim().split_once('-').ok_or_else(form)?;
    let days = week(&days.to_ascii_lowercase())?;
    let (start, end) = (minute(start)?, minute(end)?);
    if start == DAY {
        return Err(SpanError::Time("24:00".into()));
    }
    if start == end {
        return Err(SpanError::Empty(line.to_owned()));
    }
    Ok(Span { days, start, end: if end < start { end + DAY } else { end } })
}

/// `mon`, `mon-fri`, `sat-mon`, `mon,wed-thu` or `daily`.
fn week(text: &str) -> Result<[bool; 7], SpanError> {
    if text == "daily" {
        return Ok([true; 7]);
    }
    let mut week = [false; 7];
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (day(first)?, day(last)?);
        for ahead in 0..=(last + 7 - first) % 7 {
            week[(first + ahead) % 7] = true;
        }
    }
    Ok(week)
}

fn day(word: &str) -> Result<usize, SpanError> {
    DAYS.iter().position(|day| *day == word).ok_or_else(|| SpanError::Day(word.to_owned()))
}

/// Minutes since midnight, 0 to [`DAY`].
fn minute(text: &str) -> Result<u16, SpanError> {
    let number = |t: &str| {
        t.parse::<u16>().ok().filter(|_| t.len() == 2 && t.bytes().all(|b| b.is_ascii_digit()))
    };
    text.trim()
        .split_once(':')
        .and_then(|(hours, minutes)| Some((number(hours)?, number(minutes)?)))
        .filter(|(hours, minutes)| *minutes < 60 && hours * 60 + minutes <= DAY)
        .map(|(hours, minutes)| hours * 60 + minutes)
        .ok_or_else(|| SpanError::Time(text.trim().to_owned()))
}
