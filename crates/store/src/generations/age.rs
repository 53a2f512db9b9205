//! Age of the data of a generation.

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

/// Whole days from `date` (`YYYY-MM-DD`), or from `loaded_at` where that is no date, until `now`,
/// in UTC; both in milliseconds since 1970.
pub(super) fn days(date: Option<&str>, loaded_at: i64, now: i64) -> u64 {
    let since = date.and_then(|date| date.parse::<Date>().ok()).or_else(|| day(loaded_at));
    let days =
        since.zip(day(now)).map(|(since, today)| since.duration_until(today).as_hours() / 24);
    days.and_then(|days| u64::try_from(days).ok()).unwrap_or(0)
}

fn day(moment: i64) -> Option<Date> {
    Some(Timestamp::from_millisecond(moment).ok()?.to_zoned(TimeZone::UTC).date())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 15 January 2027, 08:00 UTC.
    const NOW: i64 = 1_800_000_000_000;

    #[test]
    fn days_are_counted_by_the_calendar() {
        for (date, age) in [
            (Some("2027-01-15"), 0),
            (Some("2027-01-14"), 1),
            (Some("2026-12-31"), 15),
            (Some("2024-02-28"), 1052),
            (Some("2027-02-01"), 0),
            // No date, and none that there is: since it was loaded.
            (None, 2),
            (Some("2026-02-31"), 2),
        ] {
            assert_eq!(days(date, NOW - 2 * 86_400_000, NOW), age, "{date:?}");
        }
    }
}
