//! Timestamps of the API: RFC 3339 in UTC, to the millisecond.

use model::UnixMillis;
use serde::{Serialize, Serializer};
use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, SchemaFormat, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

/// The first time that RFC 3339 can express, in milliseconds.
const YEAR_0: i64 = -62_167_219_200_000;
/// A time in the last days that it can express.
const YEAR_9999: i64 = 253_402_200_000_000;

/// A point in time that serializes as RFC 3339.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Timestamp(pub UnixMillis);

impl Timestamp {
    /// The time to the second in RFC 3339, as commands print it.
    pub fn to_iso(self) -> String {
        format!("{:.0}", self.nearest())
    }

    /// The time to the second, as sentences about what happens within minutes contain it.
    pub fn to_second(self) -> String {
        self.nearest().strftime("%Y-%m-%d %H:%M:%S UTC").to_string()
    }

    /// The nearest time that RFC 3339 can express, so that no value makes a response fail.
    fn nearest(self) -> jiff::Timestamp {
        let milliseconds = self.0.0.clamp(YEAR_0, YEAR_9999);
        jiff::Timestamp::from_millisecond(milliseconds).unwrap_or_default()
    }

    /// The time to the minute, as sentences of the API contain it.
    pub fn to_minute(self) -> String {
        self.nearest().strftime("%Y-%m-%d %H:%M UTC").to_string()
    }
}

impl From<UnixMillis> for Timestamp {
    fn from(time: UnixMillis) -> Self {
        Self(time)
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{:.3}", self.nearest()))
    }
}

impl PartialSchema for Timestamp {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .format(Some(SchemaFormat::KnownFormat(KnownFormat::DateTime)))
            .description(Some("RFC 3339, UTC"))
            .into()
    }
}

impl ToSchema for Timestamp {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timestamp_serializes_as_rfc_3339() {
        let text = serde_json::to_string(&Timestamp(UnixMillis(1_731_000_000_120))).unwrap();
        assert_eq!(text, "\"2024-11-07T17:20:00.120Z\"");
    }

    #[test]
    fn a_time_without_a_date_serializes_as_the_nearest_one() {
        let year = |ms| serde_json::to_string(&Timestamp(UnixMillis(ms))).unwrap()[1..6].to_owned();
        assert_eq!([year(i64::MAX), year(i64::MIN)], ["9999-", "0000-"]);
    }
}
