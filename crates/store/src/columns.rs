//! Columns as the types of the vocabulary.

use std::fmt::Display;
use std::net::IpAddr;
use std::str::FromStr;

use hierarchy::Range;
use model::{AccountId, AgentId, DelegationId, LedgerPosition, SearchId};
use sqlx::postgres::PgRow;
use sqlx::{Decode, Postgres, Row as _, Type};

use crate::StoreError;

/// A type of the vocabulary that columns hold as a type of Postgres.
pub(crate) trait Column: Sized {
    /// The type that is decoded.
    type Stored: for<'r> Decode<'r, Postgres> + Type<Postgres>;

    fn of(stored: Self::Stored) -> Self;
}

impl<T: Column> Column for Option<T> {
    type Stored = Option<T::Stored>;

    fn of(stored: Self::Stored) -> Self {
        stored.map(T::of)
    }
}

macro_rules! columns {
    ($($type:ty: $stored:ty = $of:path;)+) => { $(
        impl Column for $type {
            type Stored = $stored;

            fn of(stored: $stored) -> Self {
                $of(stored)
            }
        }
    )+ };
}

columns! {
    u16: i16 = i16::unsigned_abs;
    u32: i32 = i32::unsigned_abs;
    u64: i64 = i64::unsigned_abs;
    AccountId: i64 = AccountId::new;
    AgentId: i64 = AgentId::new;
    DelegationId: i64 = DelegationId::new;
    LedgerPosition: i64 = LedgerPosition::new;
    SearchId: i64 = SearchId::new;
}

/// Reads columns as types of the vocabulary; `try_get` reads them as types of Postgres.
pub(crate) trait ReadColumn {
    fn read<T: Column>(&self, column: &str) -> sqlx::Result<T>;
}

impl ReadColumn for PgRow {
    fn read<T: Column>(&self, column: &str) -> sqlx::Result<T> {
        self.try_get(column).map(T::of)
    }
}

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
