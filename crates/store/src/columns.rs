//! Columns as the types of the vocabulary.

use std::fmt::Display;
use std::net::IpAddr;
use std::str::FromStr;

use hierarchy::Range;

use crate::StoreError;

/// The variant that `word` spells in a column of the row `id`. The schema allows only words that
/// this version knows, so an unknown one means that a newer version or a person wrote it.
pub(crate) fn read_word<T: FromStr>(
    table: &'static str,
    column: &'static str,
    id: impl Display,
    word: &str,
) -> Result<T, StoreError> {
    word.parse().map_err(|_| StoreError::UnknownWord {
        table,
        column,
        id: id.to_string(),
        word: word.to_owned(),
    })
}

/// The range between two columns of type inet.
pub(crate) fn range(first: IpAddr, last: IpAddr) -> Result<Range, StoreError> {
    Range::new(first, last).map_err(|_| StoreError::unreadable("an address range"))
}

/// A number as a column of type bigint has it: one beyond its range, which no honest agent
/// reaches, becomes the largest that it holds.
pub(crate) fn bigint(number: impl TryInto<i64>) -> i64 {
    number.try_into().unwrap_or(i64::MAX)
}

/// [`bigint`] for a column of type int.
pub(crate) fn int(number: impl TryInto<i32>) -> i32 {
    number.try_into().unwrap_or(i32::MAX)
}

/// A text in which LIKE finds no wildcard.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_")
}
