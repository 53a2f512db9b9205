//! Fields of a line.

use hierarchy::Registry;

use crate::rejects::excerpt;

/// A field that violates the format.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("field {field}: found `{found}`, expected {expected}")]
pub struct FieldError {
    /// Name of the field in the description of the format.
    pub field: &'static str,
    /// Text of the field, cut and escaped.
    pub found: String,
    /// What the format allows there.
    pub expected: &'static str,
}

impl FieldError {
    pub(super) fn new(field: &'static str, found: &str, expected: &'static str) -> Self {
        Self { field, found: excerpt(found.as_bytes()), expected }
    }
}

/// The fields of one line, from left to right.
pub(super) struct Fields<'a>(std::str::Split<'a, char>);

impl<'a> Fields<'a> {
    pub(super) fn of(line: &'a [u8]) -> Result<Self, FieldError> {
        let text = str::from_utf8(line).map_err(|_| FieldError {
            field: "(whole line)",
            found: excerpt(line),
            expected: "text in ASCII",
        })?;
        Ok(Self(text.split('|')))
    }

    /// The next field; an error where the line has ended.
    pub(super) fn next(&mut self, field: &'static str) -> Result<&'a str, FieldError> {
        let expected = "another field, but the line ends before it";
        self.next_optional().ok_or_else(|| FieldError::new(field, "", expected))
    }

    pub(super) fn next_optional(&mut self) -> Option<&'a str> {
        self.0.next().map(str::trim_ascii)
    }
}

pub(super) fn parse_registry(text: &str) -> Result<Registry, FieldError> {
    let expected = "afrinic, apnic, arin, lacnic or ripencc";
    text.parse().map_err(|_| FieldError::new("registry", text, expected))
}

/// Checks that month and day exist, but not leap years.
pub(super) fn check_date(field: &'static str, text: &str) -> Result<(), FieldError> {
    let wrong = || FieldError::new(field, text, "a day as YYYYMMDD, 00000000 or nothing");
    // ARIN writes 00000000 for an unknown day, others leave the field empty.
    if text.is_empty() || text == "00000000" {
        return Ok(());
    }
    if text.len() != 8 || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(wrong());
    }
    let month_and_day: u32 = text[4..].parse().map_err(|_| wrong())?;
    let exists =
        (1..=12).contains(&(month_and_day / 100)) && (1..=31).contains(&(month_and_day % 100));
    if exists { Ok(()) } else { Err(wrong()) }
}
