//! Times of changes in sitemaps: dates and times as the W3C's profile of ISO 8601 has them.

use jiff::{Timestamp, civil, tz::TimeZone};
use model::UnixMillis;

/// Longest text of a time, in bytes.
const LONGEST: usize = 40;

/// The time that the text of a `lastmod` element states. Of a day, after whose beginning the page
/// may have changed, it is the end. None for months and years, which are too long to say anything.
pub(in crate::extract) fn modified(text: &str) -> Option<UnixMillis> {
    let text = text.trim();
    if text.len() > LONGEST {
        return None;
    }
    let time = if text.contains(['T', 't', ' ']) { timestamp(text) } else { end_of_day(text) };
    time.map(|time| UnixMillis(time.as_millisecond()))
}

/// A time of a day. Many sites leave out its zone.
fn timestamp(text: &str) -> Option<Timestamp> {
    let in_zone = text.parse::<Timestamp>();
    in_zone.ok().or_else(|| utc(text.parse::<civil::DateTime>().ok()?))
}

fn end_of_day(text: &str) -> Option<Timestamp> {
    let day = text.parse::<civil::Date>().ok()?;
    utc(day.tomorrow().ok()?.to_datetime(civil::Time::midnight()))
}

fn utc(time: civil::DateTime) -> Option<Timestamp> {
    time.to_zoned(TimeZone::UTC).ok().map(|zoned| zoned.timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_days_are_read() {
        let at = |text: &str| modified(text).map(|at| at.0);
        let noon = 1_796_040_000_000;
        for text in [
            "2026-11-30T12:00:00Z",
            " 2026-11-30T12:00:00.000+00:00\n",
            "2026-11-30T13:00:00+01:00",
            "2026-11-30T13:00+01:00",
            "2026-11-30T12:00:00",
            "2026-11-30 12:00:00",
        ] {
            assert_eq!(at(text), Some(noon), "{text}");
        }
        assert_eq!(at("2026-11-30"), Some(noon + 12 * 3_600_000), "the end of the day");
        let long = format!("2026-11-30T12:00:00.{}Z", "0".repeat(99));
        for text in ["2026-11", "2026", "", "yesterday", "30.11.2026", "-009999-01-01", &long] {
            assert!(at(text).is_none_or(|at| at < 0), "{text}");
        }
    }
}
