//! Time series and progress as the API shows them.

use model::{ActivityStep, AgentId};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::http::timestamp::Timestamp;

/// Which time series to read.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct SeriesQuery {
    /// Only this agent; all agents together by default.
    #[param(value_type = Option<String>, example = "agt_12")]
    pub agent: Option<AgentId>,
    /// Length of the buckets; minutes by default. Minutes are kept for 3 days, hours for 40 days
    /// and days for two years.
    #[param(inline)]
    pub step: Option<ActivityStep>,
    /// Number of buckets; 120 by default.
    #[param(minimum = 1, maximum = 1440)]
    pub buckets: Option<i64>,
    /// The last bucket is the one that this time lies in (RFC 3339); now by default.
    #[param(example = "2026-01-31T12:00:00Z")]
    pub until: Option<String>,
}

/// What happened over time.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Series {
    /// Length of the buckets.
    pub step: ActivityStep,
    /// Length of the buckets in seconds.
    pub step_s: u64,
    /// One bucket after the other without a gap, the oldest first; the last may not be over. Before
    /// the first bucket nothing is known.
    pub buckets: Vec<ActivityBucket>,
}

/// What happened in one bucket of a time series.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct ActivityBucket {
    /// Begin of the bucket.
    pub start: Timestamp,
    /// Documents that were ingested.
    pub pages: u64,
    /// Fetches ingested, whatever their outcome.
    pub fetches: u64,
    /// Fetches without a complete answer or with an HTTP error status.
    pub errors: u64,
    /// Bytes of bodies as fetched.
    pub fetched_bytes: u64,
    /// Bytes of the packages.
    pub shipped_bytes: u64,
    /// Probe orders that agents answered.
    pub probes: u64,
    /// Delegation searches that ended with a delegation.
    pub searches: u64,
    /// URLs that wait to be fetched, at the end of the bucket; null when unknown.
    #[schema(required = true)]
    pub queued: Option<u64>,
    /// Mean round trip of the connections of fetches, in milliseconds; null without any.
    #[schema(required = true)]
    pub round_trip_ms: Option<f64>,
}

/// Whether the crawl comes to an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProgressState {
    /// Nothing was heard of queues in the last half hour.
    Unknown,
    /// Nothing waits to be fetched.
    Finished,
    /// URLs wait, but nothing was fetched in the last half hour.
    Waiting,
    /// The queue gets shorter.
    Shrinking,
    /// As many URLs are discovered as are fetched, or more.
    Growing,
}

/// Progress of the crawl by the last half hour.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct Progress {
    /// Whether the crawl comes to an end.
    pub state: ProgressState,
    /// Fetches ingested in the last two years.
    pub fetched: u64,
    /// URLs that wait to be fetched; null when unknown.
    #[schema(required = true)]
    pub queued: Option<u64>,
    /// Fetches a second.
    pub fetches_per_s: f64,
    /// By how many URLs a second the queue gets longer; negative when it gets shorter, null when
    /// unknown.
    #[schema(required = true)]
    pub queue_growth_per_s: Option<f64>,
    /// When nothing will wait any more if the queue goes on to get shorter like that; null when it
    /// does not.
    #[schema(required = true)]
    pub expected_end: Option<Timestamp>,
}
