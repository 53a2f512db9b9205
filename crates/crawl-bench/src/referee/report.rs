//! What the referee has seen since it was told to start again.

use serde::{Deserialize, Serialize};

/// How far a crawl has come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// Requests of any kind.
    pub requests: u64,
    /// Different pages that were requested.
    pub unique: u64,
}

/// Everything about one crawl.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Requests of any kind.
    pub requests: u64,
    /// Different pages that were served.
    pub unique: u64,
    /// Page requests beyond the first of each page.
    pub repeated: u64,
    /// Requests for robots.txt.
    pub robots: u64,
    /// Hosts whose robots.txt was requested.
    pub hosts_with_robots: u64,
    /// Hosts of which a page was requested before robots.txt.
    pub hosts_without_robots: u64,
    /// Requests for paths that robots.txt forbids.
    pub forbidden: u64,
    /// Requests for paths that the web does not have.
    pub unknown: u64,
    /// Connections that were accepted.
    pub connections: u64,
    /// Most requests to one host at the same time.
    pub most_in_flight: u32,
    /// Smallest gap between two requests to a host, in milliseconds; none without a second request.
    pub smallest_gap_ms: Option<f64>,
    /// Most requests to one address at the same time.
    pub most_in_flight_address: u32,
    /// Smallest gap between two requests to an address, in milliseconds.
    pub smallest_gap_address_ms: Option<f64>,
    /// From the first request to the end of the last page, in seconds.
    pub span_s: f64,
    /// From the first request to the end of the last answer, in seconds.
    pub request_span_s: f64,
    /// Bytes of the bodies of pages before compression.
    pub plain_bytes: u64,
    /// Bytes of the bodies of pages as they were sent.
    pub wire_bytes: u64,
    /// CPU time of the referee's process, in seconds.
    pub referee_cpu_s: f64,
}
