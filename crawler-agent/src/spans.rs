//! Here is a moment: may the agent work, and when does that change?
//!
//! A span means the readings of the clock on the owner's wall: the agent is awake exactly when that
//! clock, in the owner's zone, shows a time inside a span. When clocks are put back and a time is
//! shown twice, it counts twice; when clocks are put forward, times that are never shown never
//! count. Spans that reach past midnight belong to the day on which they start.

mod parse;

use jiff::{
    Timestamp, ToSpan as _,
    civil::{Date, DateTime, Time},
    tz::{AmbiguousOffset, TimeZone},
};

pub use parse::SpanError;

const DAY: u16 = 24 * 60;

/// The hours in which the agent may work.
#[derive(Debug, Clone)]
pub struct Spans {
    zone: TimeZone,
    weekly: Vec<Span>,
}

/// One line of the owner's list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Span {
    /// On which days it starts; Monday first.
    days: [bool; 7],
    /// Minute of the day, 0 to 1439.
    start: u16,
    /// Minute counted from the start day's midnight, above `start`, at most a day later.
    end: u16,
}

impl Spans {
    /// No restriction.
    pub fn always() -> Self {
        Self { zone: TimeZone::UTC, weekly: Vec::new() }
    }

    /// The spans in `lines`, like `mon-fri 22:00-06:00`; no lines mean always.
    pub fn new<S: AsRef<str>>(zone: TimeZone, lines: &[S]) -> Result<Self, SpanError> {
        let weekly =
            lines.iter().map(|line| parse::span(line.as_ref())).collect::<Result<_, _>>()?;
        Ok(Self { zone, weekly })
    }

    /// Whether the agent may work at this moment.
    pub fn awake(&self, at: Timestamp) -> bool {
        self.weekly.is_empty() || self.shown_inside(self.zone.to_datetime(at))
    }

    /// When [`Self::awake`] changes next after `at`; none when it never does.
    pub fn next_change(&self, at: Timestamp) -> Option<Timestamp> {
        let now = self.awake(at);
        let mut moments = self.moments(at);
        moments.retain(|m| *m > at);
        moments.sort_unstable();
        moments.into_iter().find(|m| self.awake(*m) != now)
    }

    fn shown_inside(&self, clock: DateTime) -> bool {
        let minute = clock.hour() as u16 * 60 + clock.minute() as u16;
        let today = clock.weekday().to_monday_zero_offset() as usize;
        let yesterday = (today + 6) % 7;
        self.weekly.iter().any(|s| {
            (s.days[today] && (s.start..s.end).contains(&minute))
                || (s.days[yesterday] && minute + DAY < s.end)
        })
    }

    /// Every moment in the next week at which the answer can change: the bounds of spans, as often
    /// as the clock shows them, and the moments at which the clock is put forward or back.
    fn moments(&self, at: Timestamp) -> Vec<Timestamp> {
        let today = self.zone.to_datetime(at).date();
        let mut moments: Vec<Timestamp> =
            self.zone.following(at).take(8).map(|transition| transition.timestamp()).collect();
        for ahead in -1..=8 {
            let Ok(date) = today.checked_add(ahead.days()) else { continue };
            for span in &self.weekly {
                self.push_shown(&mut moments, date, span.start);
                self.push_shown(&mut moments, date, span.end);
            }
        }
        moments
    }

    fn push_shown(&self, moments: &mut Vec<Timestamp>, date: Date, minute: u16) {
        let Ok(date) = date.checked_add(i64::from(minute / DAY).days()) else { return };
        let minute = minute % DAY;
        let Ok(time) = Time::new((minute / 60) as i8, (minute % 60) as i8, 0, 0) else { return };
        let shown = DateTime::from_parts(date, time);
        let offsets = match self.zone.to_ambiguous_timestamp(shown).offset() {
            AmbiguousOffset::Unambiguous { offset } => [offset, offset],
            AmbiguousOffset::Gap { before, after } | AmbiguousOffset::Fold { before, after } => {
                [before, after]
            }
        };
        moments.extend(offsets.iter().filter_map(|offset| offset.to_timestamp(shown).ok()));
    }
}

#[cfg(test)]
mod tests;
