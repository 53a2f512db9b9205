//! Calendar of the owner: days and months in the owner's time zone.

use jiff::{Timestamp, civil::Date, tz::TimeZone};

/// One day in the owner's zone, as long as the clock there makes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Day {
    /// Date on the owner's calendar.
    pub date: Date,
    /// First moment of the day.
    pub starts: Timestamp,
    /// First moment of the next day.
    pub ends: Timestamp,
    /// First moment of the next month.
    pub month_ends: Timestamp,
}

impl Day {
    /// The day of `zone` that holds this moment.
    pub fn of(at: Timestamp, zone: &TimeZone) -> Self {
        let date = zone.to_datetime(at).date();
        let starts = start(date, zone).unwrap_or(Timestamp::MIN);
        let next = date.tomorrow().ok();
        let next_month = date.last_of_month().tomorrow().ok();
        let start = |date: Option<Date>| date.and_then(|date| start(date, zone));
        Self {
            date,
            // The clock shows a time twice: it may read this date again after the next has begun.
            starts: starts.min(at),
            ends: start(next).filter(|ends| *ends > at).unwrap_or(Timestamp::MAX),
            month_ends: start(next_month).filter(|ends| *ends > at).unwrap_or(Timestamp::MAX),
        }
    }

    /// Whether the moment is in this day.
    pub fn holds(&self, at: Timestamp) -> bool {
        (self.starts..self.ends).contains(&at)
    }
}

/// First moment at which the clock shows this date; none outside the calendar.
fn start(date: Date, zone: &TimeZone) -> Option<Timestamp> {
    let midnight = date.to_zoned(zone.clone()).ok()?;
    Some(midnight.start_of_day().ok()?.timestamp())
}

#[cfg(test)]
mod tests {
    use jiff::ToSpan as _;

    use super::*;

    fn hours(zone: &str, at: &str) -> f64 {
        let zone = TimeZone::get(zone).unwrap();
        let day = Day::of(at.parse().unwrap(), &zone);
        assert!(day.holds(at.parse().unwrap()));
        assert!(!day.holds(day.ends) && day.holds(day.ends - 1.nanosecond()));
        (day.ends - day.starts).total(jiff::Unit::Hour).unwrap()
    }

    #[test]
    fn days_are_as_long_as_the_clock_makes_them() {
        for (zone, at, expected) in [
            ("UTC", "2026-03-29T12:00:00Z", 24.0),
            ("Europe/Berlin", "2026-03-29T12:00:00Z", 23.0),
            ("Europe/Berlin", "2026-10-25T12:00:00Z", 25.0),
            ("America/New_York", "2026-03-08T12:00:00Z", 23.0),
            ("Australia/Lord_Howe", "2026-04-05T00:00:00Z", 24.5),
            ("Australia/Lord_Howe", "2026-10-04T00:00:00Z", 23.5),
            // Midnight does not exist on this day: it begins at one o'clock.
            ("America/Santiago", "2026-09-06T12:00:00Z", 23.0),
        ] {
            assert!((hours(zone, at) - expected).abs() < 1e-9, "{zone}: {}", hours(zone, at));
        }
    }

    #[test]
    fn a_month_ends_with_its_last_day() {
        let zone = TimeZone::get("Asia/Kathmandu").unwrap();
        let day = Day::of("2026-02-15T12:00:00Z".parse().unwrap(), &zone);
        assert_eq!(day.month_ends, "2026-02-28T18:15:00Z".parse().unwrap());
        let last = Day::of("2026-02-28T18:00:00Z".parse().unwrap(), &zone);
        assert_eq!(last.ends, last.month_ends);
    }

    /// In Havana the clock goes from 1:00 back to 0:00, so that midnight comes twice.
    #[test]
    fn days_follow_each_other_without_a_gap() {
        for name in ["America/Havana", "Europe/Berlin", "America/Santiago"] {
            let zone = TimeZone::get(name).unwrap();
            let mut day = Day::of("2026-01-01T12:00:00Z".parse().unwrap(), &zone);
            for _ in 0..400 {
                let next = Day::of(day.ends, &zone);
                assert_eq!((next.date, next.starts), (day.date.tomorrow().unwrap(), day.ends));
                day = next;
            }
        }
    }
}
