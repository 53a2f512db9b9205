//! What admins give the coordinator to do: seeds and policy.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::calibrations::CalibrationPolicy;
use crate::api::extract::Checked;
use crate::api::problem::FieldError;

/// Most seeds of one request.
const SEEDS_MAX: usize = 10_000;

/// URLs to begin from.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Seeds {
    /// Absolute http or https URLs of at most 2,048 bytes.
    #[schema(min_items = 1, max_items = 10_000)]
    pub urls: Vec<String>,
}

impl Checked for Seeds {
    fn broken_rules(&self) -> Vec<FieldError> {
        if (1..=SEEDS_MAX).contains(&self.urls.len()) {
            return Vec::new();
        }
        vec![FieldError::new("urls", format!("give 1 to {SEEDS_MAX} URLs, not {}", self.urls.len()))]
    }
}

/// A seed that was not taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Rejected {
    /// As it was given.
    pub url: String,
    /// Why not.
    pub reason: String,
}

/// What became of the seeds.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct SeedsAnswer {
    /// New to the coordinator.
    pub accepted: u64,
    /// Known before.
    pub already_known: u64,
    /// Not taken, and why.
    pub rejected: Vec<Rejected>,
}

/// The settings that admins may change while everything runs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Policy {
    /// The round trip that is good enough to stop probing, milliseconds.
    #[schema(minimum = 1, maximum = 10_000)]
    pub threshold_ms: u32,
    /// Seconds for which a search waits for sleeping candidates before it decides provisionally.
    #[schema(minimum = 1, maximum = 86_400)]
    pub patience_s: u32,
    /// Least pause between two requests to one host, milliseconds; owners may ask for more.
    #[schema(minimum = 0, maximum = 600_000)]
    pub host_delay_ms: u32,
    /// What is done about slow pages; left out, it stays as it is.
    #[serde(default)]
    pub calibration: Option<CalibrationPolicy>,
}

impl Checked for Policy {
    fn broken_rules(&self) -> Vec<FieldError> {
        let mut broken = Vec::new();
        if !(1..=10_000).contains(&self.threshold_ms) {
            broken.push(FieldError::new("threshold_ms", "give 1 to 10000 milliseconds"));
        }
        if !(1..=86_400).contains(&self.patience_s) {
            broken.push(FieldError::new("patience_s", "give 1 to 86400 seconds"));
        }
        if self.host_delay_ms > 600_000 {
            broken.push(FieldError::new("host_delay_ms", "give 0 to 600000 milliseconds"));
        }
        broken.extend(self.calibration.iter().flat_map(CalibrationPolicy::broken_rules));
        broken
    }
}

/// What is running.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Version {
    /// Version of the coordinator.
    pub version: String,
    /// Version of the agent protocol it speaks.
    pub protocol: u32,
    /// `stub`, or the first twelve hex digits of the built dashboard's hash.
    pub dashboard: String,
}
