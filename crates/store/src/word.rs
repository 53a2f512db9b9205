//! Words of closed sets in columns of type text.

use std::fmt::Display;
use std::str::FromStr;

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
