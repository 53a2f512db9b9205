//! Counts of a package for one host.

use std::net::IpAddr;

/// Counts and times of the fetches of one host.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HostTally {
    /// http or https.
    pub scheme: String,
    /// Host name or address, with the port where it is not the default.
    pub authority: String,
    /// Documents among the fetches.
    pub pages: u64,
    /// Fetches, whatever their outcome.
    pub fetches: u64,
    /// Bytes of bodies as fetched.
    pub wire_bytes: u64,
    /// Sum of the fetches' times, in milliseconds.
    pub fetch_ms: u64,
    /// How fast its pages were beside their own past.
    pub trends: Trends,
    /// The address of the fastest TCP connection, and its round trip in microseconds; none where
    /// none was timed.
    pub round_trip: Option<(IpAddr, u32)>,
}

/// How fast the pages of one host were beside their own past.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Trends {
    /// Fetches as fast as usual.
    pub usual: u32,
    /// Reports of slower pages.
    pub slower: u32,
    /// The page of the last such report, and its recent time over its usual time.
    pub page: Option<(String, f64)>,
}

impl Trends {
    /// Whether there is nothing to count.
    pub(crate) fn is_empty(&self) -> bool {
        self.usual == 0 && self.slower == 0
    }
}
