//! Days as the exchange format writes them: `20181013`, `00000000` or nothing for "unknown".

use std::fmt;

/// A day of the calendar; months and days are checked to exist, leap years are not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Day {
    /// As the digits read: 20,181,013.
    digits: u32,
}

impl Day {
    /// `Ok(None)` for an unknown day, `Err` for what is no day.
    pub(super) fn parse(text: &str) -> Result<Option<Self>, ()> {
        if text.is_empty() || text == "00000000" {
            return Ok(None);
        }
        let all_digits = text.len() == 8 && text.bytes().all(|byte| byte.is_ascii_digit());
        let digits: u32 = if all_digits { text.parse().map_err(drop)? } else { return Err(()) };
        let real = (1..=12).contains(&(digits / 100 % 100)) && (1..=31).contains(&(digits % 100));
        if real { Ok(Some(Self { digits })) } else { Err(()) }
    }
}

/// `YYYY-MM-DD` (RFC 3339, full-date).
impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = (self.digits / 10_000, self.digits / 100 % 100, self.digits % 100);
        write!(f, "{year:04}-{month:02}-{day:02}")
    }
}
