//! Dates of `unavailable_after`: those of HTTP and mail, which name the month, and ISO 8601.

use jiff::fmt::rfc2822;
use model::UnixMillis;

use super::{directives::is_separator, url_list::modified};

/// Most words of a date: day of the week, day, month, year, time and zone, and one to spare.
const WORDS: usize = 7;

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// The date with which a list of directives begins, whose first word may be `value`. Of a day
/// without a time it is the end.
pub(super) fn first_date(value: &str, after: &str) -> Option<UnixMillis> {
    let words = [value, after].into_iter().flat_map(|list| list.split(is_separator));
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).take(WORDS).collect();
    iso(&words).or_else(|| Parts::of(&words).time())
}

/// A date of ISO 8601, whose time may be a word of its own.
fn iso(words: &[&str]) -> Option<UnixMillis> {
    let day = words.first()?;
    let time = words.get(1).and_then(|time| modified(&format!("{day} {time}")));
    time.or_else(|| modified(day))
}

/// Parts of a date that names its month, in any order.
#[derive(Debug, Default)]
struct Parts<'w> {
    day: Option<&'w str>,
    month: Option<&'static str>,
    year: Option<u16>,
    time: Option<&'w str>,
    zone: Option<&'w str>,
}

impl<'w> Parts<'w> {
    fn of(words: &[&'w str]) -> Self {
        let mut parts = Self::default();
        for word in words {
            // The dashes of RFC 850 are between day, month and year, not before a zone.
            let has_name = word.bytes().any(|byte| byte.is_ascii_alphabetic());
            let dash = if has_name { '-' } else { ' ' };
            word.split(dash).for_each(|part| parts.take(part));
        }
        parts
    }

    fn take(&mut self, word: &'w str) {
        let is_number = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
        let is_time = word.starts_with(|c: char| c.is_ascii_digit()) && word.contains(':');
        if is_time {
            self.time = self.time.or(Some(word));
        } else if is_number && word.len() <= 2 && self.day.is_none() {
            self.day = Some(word);
        } else if is_number {
            self.year = self.year.or_else(|| full_year(word));
        } else if self.month.is_none()
            && let Some(found) = month(word)
        {
            self.month = Some(found);
        } else if self.time.is_some() {
            self.zone = self.zone.or(Some(word));
        }
    }

    fn time(&self) -> Option<UnixMillis> {
        let Self { day: Some(day), month: Some(month), year: Some(year), time, zone } = self else {
            return None;
        };
        let time = time.unwrap_or("23:59:59");
        let in_zone = |zone: &str| rfc2822::parse(&format!("{day} {month} {year} {time} {zone}"));
        // What follows may be another directive.
        let time = zone.and_then(|zone| in_zone(zone).ok()).or_else(|| in_zone("GMT").ok())?;
        Some(UnixMillis(time.timestamp().as_millisecond()))
    }
}

/// The month with this name, of which the first letters count.
fn month(name: &str) -> Option<&'static str> {
    let first = name.get(..3)?;
    MONTHS.into_iter().find(|month| first.eq_ignore_ascii_case(month))
}

/// A year, whose century may be left out.
fn full_year(year: &str) -> Option<u16> {
    match year.parse().ok()? {
        year @ ..70 => Some(2_000 + year),
        year @ 70..100 => Some(1_900 + year),
        year @ 1_000..10_000 => Some(year),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_http_mail_and_iso_8601() {
        let at = |text: &str| first_date(text, "").map(|at| at.0);
        let noon = 1_796_040_000_000;
        for text in [
            "Mon, 30 Nov 2026 12:00:00 GMT",
            "Monday, 30-Nov-26 12:00:00 GMT, noindex",
            "Mon Nov 30 12:00:00 2026",
            " 30 November 2026 12:00 UTC",
            "30-Nov-2026 07:00:00 EST, nofollow",
            "30 Nov 2026 14:00:00 +0200",
            "30 Nov 2026 04:00:00 -0800",
            "30 Nov 2026 12:00:00, max-snippet:5",
            "2026-11-30T12:00:00Z, noindex",
            "2026-11-30T13:00:00+01:00",
            "2026-11-30 12:00:00",
        ] {
            assert_eq!(at(text), Some(noon), "{text}");
        }
        for text in ["2026-11-30", "2026-11-30, max-snippet:5"] {
            assert_eq!(at(text), Some(noon + 12 * 3_600_000), "{text}: the end of the day");
        }
        assert_eq!(at("30 Nov 2026, noindex"), Some(noon + 12 * 3_600_000 - 1_000));
        for text in ["", "never", "noindex", "30 Nov", "2026", "31 Feb 2026", "99:99"] {
            assert_eq!(at(text), None, "{text}");
        }
    }
}
