//! Calendars that lead into the far future.
//!
//! Letters and digits alone do not tell a calendar from other pages: `/event/2345` contains an
//! identifier, `/2030agenda` is a subject, and `update` contains the letters of `date`. So only
//! whole words count, and a year counts only within a date, or directly behind the name of a
//! calendar.

use crate::UnixMillis;

/// Years that a calendar may be ahead of the time of the fetch.
const YEARS_AHEAD: i64 = 2;
/// Larger numbers are no years.
const LAST_YEAR: i64 = 2_999;

/// Names of calendars, behind which a number may be a year without a month.
const CALENDARS: [&str; 5] = ["calendar", "calendars", "kalender", "calendrier", "calendario"];
/// Words beside which a number such as 20310501 is a date.
const PERIODS: [&str; 5] = ["date", "day", "week", "month", "year"];
/// Words beside which a number of its own may be an identifier.
const LISTS: [&str; 3] = ["agenda", "event", "events"];

/// Names of parameters with a year.
const YEAR_NAMES: [&str; 5] = ["year", "y", "jahr", "annee", "anno"];
/// Names of parameters with a part of a year.
const PART_NAMES: [&str; 8] = ["month", "m", "week", "w", "monat", "woche", "mois", "mese"];

const MS_PER_YEAR: i64 = 31_556_952_000;

/// Whether path and query are those of a calendar that is years ahead of `now`: its links to the
/// next month never end.
pub fn is_far_calendar(path_and_query: &str, now: UnixMillis) -> bool {
    let latest = 1970 + now.0 / MS_PER_YEAR + YEARS_AHEAD;
    let is_far = |year: i64| latest < year && year <= LAST_YEAR;
    // Nearly all URLs have no such number, and are not looked at further.
    let may_be_far = ends_of_numbers(path_and_query).any(is_far);
    may_be_far && Parts::of(path_and_query).is_some_and(|parts| parts.years().any(is_far))
}

/// The first and the last four digits of each number.
fn ends_of_numbers(text: &str) -> impl Iterator<Item = i64> {
    let numbers = text.split(|c: char| !c.is_ascii_digit());
    let ends =
        numbers.filter_map(|digits| Some([digits.get(..4)?, digits.get(digits.len() - 4..)?]));
    ends.flatten().filter_map(|digits| digits.parse().ok())
}

/// The parts of a URL that names a calendar or dates.
struct Parts<'a> {
    segments: Vec<&'a str>,
    pairs: Vec<(&'a str, &'a str)>,
    /// Whether the URL has more than a word for lists of events.
    names_period: bool,
    names_calendar: bool,
}

impl<'a> Parts<'a> {
    fn of(path_and_query: &'a str) -> Option<Self> {
        let has = |wanted: &[&str]| has_word(path_and_query, wanted);
        let names_calendar = has(&CALENDARS);
        let names_period = names_calendar || has(&PERIODS);
        if !names_period && !has(&LISTS) {
            return None;
        }
        let (path, query) = path_and_query.split_once('?').unwrap_or((path_and_query, ""));
        let pairs = query.split('&').map(|pair| pair.split_once('=').unwrap_or((pair, "")));
        let segments = path.split('/').collect();
        Some(Self { segments, pairs: pairs.collect(), names_period, names_calendar })
    }

    /// The years of all dates.
    fn years(&self) -> impl Iterator<Item = i64> {
        let values = self.pairs.iter().map(|(_, value)| *value);
        let texts = self.segments.iter().copied().chain(values);
        let dates = texts.filter_map(|text| year_of_date(text, self.names_period));
        dates.chain(self.years_of_segments()).chain(self.years_of_pairs())
    }

    /// The years of segments that have their month beside them, as in `/2031/05`, or are behind
    /// the name of a calendar.
    fn years_of_segments(&self) -> impl Iterator<Item = i64> {
        let segment = |at: Option<usize>| at.and_then(|at| self.segments.get(at)).copied();
        self.segments.iter().enumerate().filter_map(move |(at, text)| {
            let before = segment(at.checked_sub(1));
            let month = segment(Some(at + 1)).filter(|text| is_part_of_year(text));
            // An event of one digit is more likely than a month that is written so.
            let is_dated = month.is_some_and(|text| self.names_period || text.len() == 2)
                || (self.names_calendar && before.is_some_and(is_part_of_year))
                || before.is_some_and(is_calendar);
            year(text).filter(|_| is_dated)
        })
    }

    /// The years of parameters beside one with the month or week, or of a calendar.
    fn years_of_pairs(&self) -> impl Iterator<Item = i64> {
        let is_dated = self.pairs.iter().any(|(name, _)| has_word(name, &PART_NAMES))
            || self.segments.last().is_some_and(|text| is_calendar(text));
        let years =
            self.pairs.iter().filter(move |(name, _)| is_dated && has_word(name, &YEAR_NAMES));
        years.filter_map(|(_, value)| year(value))
    }
}

/// Whether one of these words is in the text. Words are of letters; `startDate` has two.
fn has_word(text: &str, wanted: &[&str]) -> bool {
    let is_wanted = |word: &str| wanted.iter().any(|known| word.eq_ignore_ascii_case(known));
    text.split(|c: char| !c.is_ascii_alphabetic()).any(|letters| {
        let mut rest = letters;
        // Capital letters begin a word, several of them one alone.
        while let Some(at) = rest.rfind(|c: char| c.is_ascii_uppercase()) {
            let start = rest[..at].trim_end_matches(|c: char| c.is_ascii_uppercase()).len();
            if is_wanted(&rest[at..]) || is_wanted(&rest[start..]) {
                return true;
            }
            rest = &rest[..start];
        }
        is_wanted(rest)
    })
}

/// Whether a segment is the name of a calendar, or of its program.
fn is_calendar(segment: &str) -> bool {
    let name = segment.split('.').next().unwrap_or_default();
    CALENDARS.iter().any(|known| name.eq_ignore_ascii_case(known))
}

/// The year of a text that is a date and nothing else: `2031-05`, `2031-W07`, `12.5.2031`,
/// `2031-05-12T10:00`, and `203105` or `20310512` where a number `may_be_alone`.
fn year_of_date(text: &str, may_be_alone: bool) -> Option<i64> {
    let text = text.replace("%2F", "/").replace("%2f", "/");
    let day = text.split(['T', 't', '+', '%']).next()?;
    let parts: Vec<&str> = day.split(['-', '_', '.', '/']).collect();
    let with = |text: &str, part: &str| year(text).filter(|_| is_part_of_year(part));
    match parts[..] {
        [digits] if may_be_alone => year_of_digits(digits),
        [first, second] => with(first, second).or_else(|| with(second, first)),
        [first, second, third] if is_part_of_year(second) => {
            with(first, third).or_else(|| with(third, first))
        }
        _ => None,
    }
}

/// The year of 203105 and 20310512.
fn year_of_digits(digits: &str) -> Option<i64> {
    let (start, rest) = digits.split_at_checked(4)?;
    let part = |range: std::ops::Range<usize>| rest.get(range).and_then(|part| part.parse().ok());
    let is_month = part(0..2).is_some_and(|month: u8| (1..=12).contains(&month));
    let is_day = rest.len() == 2 || part(2..4).is_some_and(|day: u8| (1..=31).contains(&day));
    // Other numbers of this length are identifiers.
    let is_date = matches!(rest.len(), 2 | 4) && is_month && is_day;
    year(start).filter(|_| is_date)
}

fn year(text: &str) -> Option<i64> {
    let is_number = text.len() == 4 && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_number)
}

/// Whether the text is the number of a day, a month or a week, such as 5, 05 or W05.
fn is_part_of_year(text: &str) -> bool {
    let digits = text.strip_prefix(['W', 'w']).unwrap_or(text);
    let is_number = digits.len() <= 2 && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number && digits.parse().is_ok_and(|number: u8| (1..=53).contains(&number))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In November 2026.
    const NOW: UnixMillis = UnixMillis(1_795_500_000_000);

    #[test]
    fn calendars_end_years_ahead() {
        for path in [
            "/calendar/2029/01",
            "/calendar/2031",
            "/calendar/5/2031",
            "/calendar.php?year=2031",
            "/calendar/203105",
            "/calendar/week/2031-W05",
            "/Kalender?m=202912",
            "/x?date=2040-02-03",
            "/x?startDate=2040-02-03T10:00:00",
            "/x?EVENTDate=3.2.2040",
            "/x?day=05%2F12%2F2031",
            "/events/week/20310101",
            "/events/2031-05/",
            "/events/2031/05/12",
            "/?year=2999&month=1",
            "/index.php?task=month.view&Y=2031&m=5",
        ] {
            assert!(is_far_calendar(path, NOW), "{path}");
        }
        for path in ["/calendar/2028/12", "/calendar/1999/12", "/calendar/3000/01", "/date"] {
            assert!(!is_far_calendar(path, NOW), "{path}");
        }
    }

    #[test]
    fn identifiers_and_subjects_are_no_calendars() {
        for path in [
            "/article/2031",
            "/article/2031/05",
            "/en/agenda2063/overview",
            "/2030agenda",
            "/agenda/2030",
            "/event/2345/",
            "/event/2345/contributions/5",
            "/event/203412",
            "/events?id=2345&page=1",
            "/events/12345678901",
            "/events/9999",
            "/events/day/20481399",
            "/candidates.php?id=2100",
            "/candidates/203112",
            "/products/update-kit-2500",
            "/prevention/2045-10",
            "/news/203004-update",
            "/calendar/view.php?id=2345",
            "/strategy-2050/year-one",
        ] {
            assert!(!is_far_calendar(path, NOW), "{path}");
        }
    }

    #[test]
    fn words_are_whole() {
        for text in ["date", "a-date.b", "startDate", "DATE", "eventDATE2", "DateOfEvent"] {
            assert!(has_word(text, &["date"]), "{text}");
        }
        for text in ["", "update", "dates", "upDated", "UPDATE"] {
            assert!(!has_word(text, &["date"]), "{text}");
        }
    }
}
