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
    /// Messages and parts of messages that were refused: of parties that are in no known roster,
    /// without a right or room for them, of hosts outside the region or with a wrong position, and
    /// rosters that are not the coordinator's. An old roster is not counted: several members may
    /// pass the same one on.
    pub refused: u64,
}
