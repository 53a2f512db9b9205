//! The promises at the top of a file.

use hierarchy::Registry;

use super::day::Day;
use super::field::{Field, Fields, Malformed};
use super::row::Resource;

/// The first line that is not a comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// Who publishes the file.
    pub registry: Registry,
    /// The registry's number of this edition: a day, or seconds or milliseconds since 1970.
    pub serial: String,
    /// How many records follow; summaries and comments do not count.
    pub records: u64,
    /// Day up to which the file speaks.
    pub end: Option<Day>,
}

/// A line that says how many records of one type follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Summary {
    /// The type.
    pub resource: Resource,
    /// How many.
    pub count: u64,
}

/// Digits that a serial may have; the longest in use are milliseconds since 1970.
const LONGEST_SERIAL: usize = 20;

impl Header {
    pub(super) fn parse(line: &str) -> Result<Self, Malformed> {
        let mut fields = Fields::of(line);
        version(fields.next(Field::Version)?)?;
        let registry = registry(fields.next(Field::Registry)?)?;
        let serial = serial(fields.next(Field::Serial)?)?;
        let records = count(Field::Records, fields.next(Field::Records)?)?;
        day(Field::StartDate, fields.next(Field::StartDate)?)?;
        let end = day(Field::EndDate, fields.next(Field::EndDate)?)?;
        Ok(Self { registry, serial: serial.to_owned(), records, end })
    }
}

impl Summary {
    /// The registry, the first field, was taken already.
    pub(super) fn parse(fields: &mut Fields<'_>) -> Result<Self, Malformed> {
        let resource = Resource::parse(fields.next(Field::Type)?)?;
        fields.next(Field::Start)?;
        Ok(Self { resource, count: count(Field::Count, fields.next(Field::Count)?)? })
    }
}

pub(super) fn registry(text: &str) -> Result<Registry, Malformed> {
    let expected = "afrinic, apnic, arin, lacnic or ripencc";
    text.parse().map_err(|_| Malformed::new(Field::Registry, text.as_bytes(), expected))
}

pub(super) fn day(field: Field, text: &str) -> Result<Option<Day>, Malformed> {
    Day::parse(text).map_err(|()| {
        Malformed::new(field, text.as_bytes(), "a day as YYYYMMDD, 00000000 or nothing")
    })
}

fn version(text: &str) -> Result<(), Malformed> {
    let known =
        text == "2" || text.strip_prefix("2.").is_some_and(|minor| minor.parse::<u32>().is_ok());
    let wrong = || {
        Malformed::new(
            Field::Version,
            text.as_bytes(),
            "2 or 2.x, the versions of the format we can read",
        )
    };
    known.then_some(()).ok_or_else(wrong)
}

fn serial(text: &str) -> Result<&str, Malformed> {
    let good = !text.is_empty()
        && text.len() <= LONGEST_SERIAL
        && text.bytes().all(|byte| byte.is_ascii_graphic());
    good.then_some(text)
        .ok_or_else(|| Malformed::new(Field::Serial, text.as_bytes(), "up to 20 digits"))
}

fn count(field: Field, text: &str) -> Result<u64, Malformed> {
    text.parse().map_err(|_| Malformed::new(field, text.as_bytes(), "a number of records"))
}
