//! The table `[ship]`: when results are packed.

use std::time::Duration;

use serde::Deserialize;

use super::values::{kib, millis};

/// When results are packed.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ShipRules {
    /// A package is closed at the latest when its oldest result is this old.
    #[serde(rename = "age_ms", deserialize_with = "millis::<_, 10, 86_400_000>")]
    pub age: Duration,
    /// A package is closed when its results have this size before compression, in bytes.
    #[serde(rename = "kib", deserialize_with = "kib::<_, 1, 32_768>")]
    pub bytes: u64,
}

impl Default for ShipRules {
    fn default() -> Self {
        Self { age: Duration::from_mins(1), bytes: 4 << 20 }
    }
}
