//! Allowance: whether a request may start now, by the owner's hours and budgets.

use std::fmt;

use jiff::{Timestamp, ToSpan as _};
use model::UnixMillis;

use super::budget::{Budget, UsedUp};
use crate::{clock, spans::Spans};

/// A time outside the owner's spans.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sleep {
    /// Start of the next span; none when there is none.
    pub until: Option<UnixMillis>,
}

/// Reason for which the owner lets nothing start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RestReason {
    /// The time is outside the owner's spans.
    Asleep(Sleep),
    /// A budget is used up.
    UsedUp(UsedUp),
}

/// Hours and budgets of the owner.
#[derive(Debug, Clone)]
pub struct Allowance {
    hours: Hours,
    /// What was used, and what is left.
    pub budget: Budget,
}

/// The spans, with the present answer: it is asked for before each request.
#[derive(Debug, Clone)]
struct Hours {
    spans: Spans,
    answer: Answer,
}

#[derive(Debug, Clone, Copy)]
struct Answer {
    asleep: Option<Sleep>,
    from: Timestamp,
    until: Timestamp,
}

impl Allowance {
    /// The allowance at the time `now`.
    pub fn new(spans: Spans, budget: Budget, now: Timestamp) -> Self {
        let answer = Answer::at(&spans, now);
        Self { hours: Hours { spans, answer }, budget }
    }

    /// Present outside the owner's spans.
    pub fn asleep(&mut self, now: Timestamp) -> Option<Sleep> {
        let Hours { spans, answer } = &mut self.hours;
        if !(answer.from..answer.until).contains(&now) {
            *answer = Answer::at(spans, now);
        }
        answer.asleep
    }

    /// Whether a fetch may start beside those that are running, or not before one of them has
    /// ended. An error if none may start until a later time.
    pub fn may_start(&mut self, now: Timestamp) -> Result<bool, RestReason> {
        match self.asleep(now) {
            Some(sleep) => Err(RestReason::Asleep(sleep)),
            None => self.budget.has_room(now).map_err(RestReason::UsedUp),
        }
    }

    /// Counts a request that is about to be sent; an error if none may be.
    pub fn request(&mut self, now: Timestamp) -> Result<(), RestReason> {
        match self.asleep(now) {
            Some(sleep) => Err(RestReason::Asleep(sleep)),
            None => self.budget.request(now).map_err(RestReason::UsedUp),
        }
    }
}

impl Answer {
    fn at(spans: &Spans, now: Timestamp) -> Self {
        let change = spans.next_change(now);
        let until = change.map(clock::unix_millis);
        let asleep = (!spans.awake(now)).then_some(Sleep { until });
        // The next change is looked for within a week.
        let tomorrow = now.checked_add(24.hours()).unwrap_or(Timestamp::MAX);
        let until = change.map_or(tomorrow, |change| change.min(tomorrow));
        Self { asleep, from: now, until }
    }
}

impl fmt::Display for Sleep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("outside the hours in which it may work")?;
        match self.until {
            Some(until) => write!(f, ", until {}", clock::timestamp(until)),
            None => Ok(()),
        }
    }
}

impl fmt::Display for RestReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Asleep(sleep) => sleep.fmt(f),
            Self::UsedUp(used_up) => used_up.fmt(f),
        }
    }
}
