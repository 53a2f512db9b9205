//! `timestamptz` as the protocol's milliseconds, without a date library.

use model::UnixMillis;
use sqlx::encode::IsNull;
use sqlx::error::BoxDynError;
use sqlx::postgres::{PgArgumentBuffer, PgHasArrayType, PgTypeInfo, PgValueFormat, PgValueRef};
use sqlx::{Decode, Encode, Postgres, Type};

use crate::columns::Column;

/// Milliseconds from 1970-01-01 to 2000-01-01, where Postgres counts from.
const POSTGRES_EPOCH_MS: i64 = 946_684_800_000;

/// A moment on its way to or from a `timestamptz` column. Postgres keeps microseconds; they are cut
/// to milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(pub UnixMillis);

impl Type<Postgres> for Moment {
    fn type_info() -> PgTypeInfo {
        PgTypeInfo::with_name("TIMESTAMPTZ")
    }
}

impl PgHasArrayType for Moment {
    fn array_type_info() -> PgTypeInfo {
        PgTypeInfo::with_name("_timestamptz")
    }
}

impl Encode<'_, Postgres> for Moment {
    fn encode_by_ref(&self, buffer: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
        let since = self.0.0.checked_sub(POSTGRES_EPOCH_MS).and_then(|ms| ms.checked_mul(1_000));
        let micros = since.ok_or("a time that Postgres cannot hold")?;
        <i64 as Encode<'_, Postgres>>::encode(micros, buffer)
    }
}

impl<'r> Decode<'r, Postgres> for Moment {
    fn decode(value: PgValueRef<'r>) -> Result<Self, BoxDynError> {
        if value.format() == PgValueFormat::Text {
            return Err("times are read in the binary protocol only".into());
        }
        let micros = <i64 as Decode<'_, Postgres>>::decode(value)?;
        Ok(Self(UnixMillis(micros.div_euclid(1_000).saturating_add(POSTGRES_EPOCH_MS))))
    }
}

impl Column for UnixMillis {
    type Stored = Moment;

    fn of(Moment(millis): Moment) -> Self {
        millis
    }
}
