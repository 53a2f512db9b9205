//! Counts of a package for one host.

use std::net::IpAddr;

use hierarchy::Country;
use model::{ErrorKind, FetchOutcome, UnixMillis};
use serde::{Deserialize, Serialize};

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
    /// The address of the first new connection, and its round trip in microseconds; none where all
    /// connections were reused. Unlike the shortest, its mean does not depend on the number of
    /// connections.
    pub connect: Option<(IpAddr, u32)>,
    /// Fetches whose round trip is known.
    pub timed_fetches: u64,
    /// Sum of their round trips in microseconds.
    pub round_trip_us: u64,
    /// Country of the address of its fastest connection; none where it is not known.
    pub country: Option<Country>,
    /// URLs that robots rules forbid.
    pub disallowed: u64,
    /// Errors, each kind once.
    pub errors: Vec<ErrorTally>,
    /// The last fetches, the newest first; at most [`RECENT`].
    pub recent: Vec<RecentFetch>,
    /// Time of the last fetch with an answer; none where there was no answer.
    pub answered_at: Option<UnixMillis>,
    /// The fetches without an answer after that; none where there were none.
    pub silence: Option<Silence>,
}

/// Fetches in a row without an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Silence {
    /// Time of the first.
    pub since: UnixMillis,
    /// Time of the last.
    pub until: UnixMillis,
    pub fetches: u32,
}

/// Fetches of a host that are kept one by one.
pub const RECENT: usize = 20;

/// Errors of one kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrorTally {
    /// Cause that they share.
    pub kind: ErrorKind,
    /// Number of errors.
    pub errors: u64,
    /// The last of them.
    pub last: RecentFetch,
}

/// A fetch as it is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecentFetch {
    /// URL that was fetched.
    pub url: String,
    /// When it was fetched, by the agent's clock, but never later than it was reported.
    pub at: UnixMillis,
    /// What became of it.
    pub outcome: FetchOutcome,
    /// Reason, status or target in one line; empty where the outcome says everything.
    pub detail: String,
    /// How long it took, in milliseconds; none when nothing was sent.
    pub ms: Option<u64>,
    /// Bytes of the body as fetched.
    pub bytes: u64,
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
