//! Counters of a member, for its status and metrics.

/// Totals since the start of the process.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// URLs queued for other agents.
    pub urls_sent: u64,
    /// URLs received from other agents, those passed on included.
    pub urls_received: u64,
    /// Notices of hosts queued for next-nearest agents.
    pub notices_sent: u64,
    /// Bundles sent, copies included.
    pub bundles_sent: u64,
    /// Messages that were refused.
    pub refused: RefusedCounts,
}

/// Messages and parts of messages that were refused, by reason.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RefusedCounts {
    /// Messages of parties that are in no known roster.
    pub strangers: u64,
    /// Messages that the sender has no right to send, or that are larger than allowed.
    pub invalid: u64,
    /// Rosters and deltas that are not signed, inconsistent or of another region.
    pub views: u64,
    /// Rosters and deltas that are not newer than what is known.
    pub old_views: u64,
    /// URLs and bundles of hosts outside the region.
    pub foreign: u64,
    /// URLs and bundles whose position is not that of their host.
    pub misplaced: u64,
    /// Batches of URLs for which there is no room, and bundles of too many new hosts.
    pub overflow: u64,
}
