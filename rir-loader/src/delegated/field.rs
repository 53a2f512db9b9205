//! Fields of a line and what can be wrong with one.

use std::fmt;

use crate::split::split_at;

/// A field, named as in the description of the format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    /// Of the header: version of the format.
    Version,
    /// The registry that publishes the file.
    Registry,
    /// Of the header: number of the edition.
    Serial,
    /// Of the header: how many records follow.
    Records,
    /// Of the header: day of the oldest record.
    StartDate,
    /// Of the header: day up to which the file speaks.
    EndDate,
    /// Of a summary: how many records of the type follow.
    Count,
    /// Two letters.
    Country,
    /// `asn`, `ipv4` or `ipv6`.
    Type,
    /// First address or AS number.
    Start,
    /// How many addresses or AS numbers, or the prefix length.
    Value,
    /// Day of the delegation.
    Date,
    /// What became of the range.
    Status,
    /// The holder, by a name that only the registry can read.
    OpaqueId,
    /// The line as a whole.
    Line,
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Version => "version",
            Self::Registry => "registry",
            Self::Serial => "serial",
            Self::Records => "records",
            Self::StartDate => "start date",
            Self::EndDate => "end date",
            Self::Count => "count",
            Self::Country => "country",
            Self::Type => "type",
            Self::Start => "start",
            Self::Value => "value",
            Self::Date => "date",
            Self::Status => "status",
            Self::OpaqueId => "opaque-id",
            Self::Line => "(whole line)",
        })
    }
}

/// A field that is not what the format says.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("field {field}: found `{found}`, expected {expected}")]
pub struct Malformed {
    /// Which field.
    pub field: Field,
    /// What is there; long text is cut, what is not text is marked.
    pub found: String,
    /// What the format wants there.
    pub expected: &'static str,
}

/// Characters of a field that are shown in an error.
const SHOWN: usize = 60;

impl Malformed {
    pub(super) fn new(field: Field, found: &[u8], expected: &'static str) -> Self {
        let text = String::from_utf8_lossy(found.get(..SHOWN * 4).unwrap_or(found));
        let mut shown: String = text.chars().take(SHOWN).flat_map(char::escape_debug).collect();
        if text.chars().nth(SHOWN).is_some() || found.len() > SHOWN * 4 {
            shown.push('…');
        }
        Self { field, found: shown, expected }
    }
}

/// The fields of one line, taken from left to right.
pub(super) struct Fields<'a> {
    rest: Option<&'a str>,
}

impl<'a> Fields<'a> {
    pub(super) fn of(line: &'a str) -> Self {
        Self { rest: Some(line) }
    }

    /// The next field; an error when the line has ended.
    pub(super) fn next(&mut self, field: Field) -> Result<&'a str, Malformed> {
        self.next_or_end()
            .ok_or_else(|| Malformed::new(field, b"", "another field, but the line ends before it"))
    }

    pub(super) fn next_or_end(&mut self) -> Option<&'a str> {
        let rest = self.rest?;
        match split_at(rest, b'|') {
            Some((field, rest)) => {
                self.rest = Some(rest);
                Some(field.trim_ascii())
            }
            None => self.rest.take().map(str::trim_ascii),
        }
    }
}
