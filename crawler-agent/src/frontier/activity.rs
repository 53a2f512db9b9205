//! Activity of a host in the workbench.

/// What a host is doing, as people may ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostActivity {
    /// Nothing: it has no work.
    None,
    /// It has work and waits for its time.
    Waiting,
    /// Its name is being looked up.
    Resolving,
    /// A request to it is running.
    Running,
    /// It queues for an address that is busy.
    QueuesForAddress,
}
