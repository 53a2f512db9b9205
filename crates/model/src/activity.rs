//! Time series: the steps in which activity is counted.

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::UnixMillis;

const MINUTE_MS: i64 = 60_000;

/// Length of the buckets of a time series.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[derive(Serialize, Deserialize, EnumString, IntoStaticStr, VariantArray)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum ActivityStep {
    /// A bucket of 60 seconds.
    Minute,
    /// A bucket of 60 minutes.
    Hour,
    /// A bucket of 24 hours, from midnight to midnight in UTC.
    Day,
}

spelling!(ActivityStep);

impl ActivityStep {
    /// Length of a bucket in milliseconds.
    pub fn milliseconds(self) -> i64 {
        match self {
            Self::Minute => MINUTE_MS,
            Self::Hour => 60 * MINUTE_MS,
            Self::Day => 24 * 60 * MINUTE_MS,
        }
    }

    /// Start of the bucket that a time lies in.
    pub fn start_of(self, time: UnixMillis) -> UnixMillis {
        let step = self.milliseconds();
        UnixMillis(time.0.div_euclid(step).saturating_mul(step))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_start_at_whole_minutes_hours_and_days() {
        let time = UnixMillis(1_800_000_123_456);
        let starts = ActivityStep::VARIANTS.iter().map(|step| step.start_of(time).0);
        assert_eq!(
            starts.collect::<Vec<_>>(),
            [1_800_000_120_000, 1_800_000_000_000, 1_799_971_200_000]
        );
        assert_eq!(ActivityStep::Hour.start_of(UnixMillis(-1)), UnixMillis(-3_600_000));
    }
}
