//! Timestamps of the API: RFC 3339 in UTC, to the millisecond.

use model::UnixMillis;
use serde::{Serialize, Serializer};
use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, SchemaFormat, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

/// A point in time that serializes as RFC 3339.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Timestamp(pub UnixMillis);

impl Timestamp {
    /// The time to the minute, as sentences of the API contain it.
    pub fn to_minute(self) -> String {
        let time = jiff::Timestamp::from_millisecond(self.0.0).unwrap_or_default();
        time.strftime("%Y-%m-%d %H:%M UTC").to_string()
    }
}

impl From<UnixMillis> for Timestamp {
    fn from(time: UnixMillis) -> Self {
        Self(time)
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match jiff::Timestamp::from_millisecond(self.0.0) {
            Ok(time) => serializer.collect_str(&format_args!("{time:.3}")),
            Err(error) => Err(serde::ser::Error::custom(error)),
        }
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
}
