//! Header and summaries: how many records a file announces.

use hierarchy::Registry;

use super::fields::{FieldError, Fields, check_date, parse_registry};
use super::record::Resource;

/// The first line that is not a comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// Publisher of the file.
    pub registry: Registry,
    /// The registry's number of this edition: a day, or seconds or milliseconds since 1970.
    pub serial: String,
    /// Records that follow; summaries and comments do not count.
    pub records: u64,
    /// Last day covered, as `YYYY-MM-DD`; `None` where the file names none.
    pub end: Option<String>,
}

/// A line that announces the number of records of one type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Summary {
    pub(super) resource: Resource,
    pub(super) count: u64,
}

/// Longest serial number; the longest in use are milliseconds since 1970.
const MAX_SERIAL: usize = 20;

impl Header {
    pub(super) fn parse(line: &[u8]) -> Result<Self, FieldError> {
        let mut fields = Fields::of(line)?;
        check_version(fields.next("version")?)?;
        let registry = parse_registry(fields.next("registry")?)?;
        let serial = parse_serial(fields.next("serial")?)?;
        let records = parse_count("records", fields.next("records")?)?;
        // APNIC leaves the start date empty.
        check_date("start date", fields.next("start date")?)?;
        let end = fields.next("end date")?;
        check_date("end date", end)?;
        let end = (end.len() == 8 && end != "00000000")
            .then(|| format!("{}-{}-{}", &end[..4], &end[4..6], &end[6..]));
        Ok(Self { registry, serial: serial.to_owned(), records, end })
    }
}

/// Whether a line is a summary: its country is `*`.
pub(super) fn is_summary(line: &[u8]) -> bool {
    line.split(|byte| *byte == b'|').nth(1).is_some_and(|country| country.trim_ascii() == b"*")
}

impl Summary {
    pub(super) fn parse(line: &[u8]) -> Result<Self, FieldError> {
        let mut fields = Fields::of(line)?;
        parse_registry(fields.next("registry")?)?;
        fields.next("country")?;
        let resource = Resource::parse(fields.next("type")?)?;
        fields.next("start")?;
        Ok(Self { resource, count: parse_count("count", fields.next("count")?)? })
    }
}

fn check_version(text: &str) -> Result<(), FieldError> {
    let minor = text.strip_prefix("2.").and_then(|minor| minor.parse::<u32>().ok());
    if text == "2" || minor.is_some() {
        return Ok(());
    }
    Err(FieldError::new("version", text, "2 or 2.x, the versions of the format we can read"))
}

fn parse_serial(text: &str) -> Result<&str, FieldError> {
    let visible = text.bytes().all(|byte| byte.is_ascii_graphic());
    if visible && (1..=MAX_SERIAL).contains(&text.len()) {
        return Ok(text);
    }
    Err(FieldError::new("serial", text, "up to 20 digits"))
}

fn parse_count(field: &'static str, text: &str) -> Result<u64, FieldError> {
    text.parse().map_err(|_| FieldError::new(field, text, "a number of records"))
}
