//! Hours in which the owner lets the agent work.
//!
//! A span refers to the local time of the owner: the agent is awake exactly while the clock in the
//! owner's zone shows a time inside a span. When clocks are put back and a time is shown twice, it
//! counts twice; when clocks are put forward, times that are never shown never count. A span that
//! reaches past midnight belongs to the day on which it starts.

use jiff::{
    Timestamp, ToSpan as _,
    civil::{Date, DateTime, Time},
    tz::{AmbiguousOffset, TimeZone},
};

pub use model::{Span, SpanError};

const MINUTES_PER_DAY: u16 = 24 * 60;

/// The hours in which the agent may work.
#[derive(Debug, Clone)]
pub struct Spans {
    zone: TimeZone,
    /// Empty means always.
    weekly: Vec<Span>,
}

impl Spans {
    /// These spans by the clock of `zone`; no spans mean always.
    pub fn new(zone: TimeZone, weekly: Vec<Span>) -> Self {
        Self { zone, weekly }
    }

    /// Whether the agent may work at this moment.
    pub fn awake(&self, at: Timestamp) -> bool {
        self.weekly.is_empty() || self.holds(self.zone.to_datetime(at))
    }

    /// When [`Self::awake`] changes next after `at`; none when it never does.
    pub fn next_change(&self, at: Timestamp) -> Option<Timestamp> {
        let now = self.awake(at);
        let mut candidates = self.candidates(at);
        candidates.retain(|moment| *moment > at);
        candidates.sort_unstable();
        // Not every candidate is a change: spans may overlap or touch.
        candidates.into_iter().find(|moment| self.awake(*moment) != now)
    }

    /// Whether a span holds this reading of the wall clock.
    fn holds(&self, clock: DateTime) -> bool {
        let minute = clock.hour() as u16 * 60 + clock.minute() as u16;
        let today = clock.weekday().to_monday_zero_offset() as usize;
        let yesterday = (today + 6) % 7;
        self.weekly.iter().any(|span| {
            let started_today = span.days()[today] && (span.start()..span.end()).contains(&minute);
            // The part after midnight of a span that started yesterday.
            let started_yesterday = span.days()[yesterday] && minute + MINUTES_PER_DAY < span.end();
            started_today || started_yesterday
        })
    }

    /// Every moment in the next week at which the answer can change: bounds of spans, as often as
    /// the clock shows them, and changes of the clock itself.
    fn candidates(&self, at: Timestamp) -> Vec<Timestamp> {
        let today = self.zone.to_datetime(at).date();
        let transitions = self.zone.following(at).take(8);
        let mut moments: Vec<Timestamp> =
            transitions.map(|transition| transition.timestamp()).collect();
        // From yesterday, whose spans may reach past midnight, to the same weekday next week.
        for ahead in -1..=8 {
            let Ok(date) = today.checked_add(ahead.days()) else { continue };
            for span in &self.weekly {
                self.push_shown(&mut moments, date, span.start());
                self.push_shown(&mut moments, date, span.end());
            }
        }
        moments
    }

    /// Adds the moments at which the clock shows this minute, counted from midnight of `date`.
    fn push_shown(&self, moments: &mut Vec<Timestamp>, date: Date, minute: u16) {
        let days = i64::from(minute / MINUTES_PER_DAY).days();
        let minute = minute % MINUTES_PER_DAY;
        let Ok(date) = date.checked_add(days) else { return };
        let Ok(time) = Time::new((minute / 60) as i8, (minute % 60) as i8, 0, 0) else { return };
        let shown = DateTime::from_parts(date, time);
        // In a fold the time is shown twice. In a gap it is never shown; both offsets are then
        // harmless, because the caller asks for each candidate whether the answer changes.
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
