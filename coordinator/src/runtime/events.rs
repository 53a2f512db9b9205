//! What changed, told to whoever watches (the dashboard's event stream).

use tokio::sync::broadcast;

/// Something of this kind changed; watchers read the new state themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Change {
    /// An agent enrolled, changed its state, woke or fell asleep.
    Agents,
    /// A search opened, a probe was answered, a delegation was made or ended.
    Delegations,
    /// Hosts, URLs, packages or pages were counted.
    Crawl,
    /// A new generation of the hierarchy is in use.
    Hierarchy,
    /// An admin changed the policy.
    Policy,
}

/// The hall where changes are called out. Nobody listening is fine; a slow listener misses some and
/// is told so.
#[derive(Debug, Clone)]
pub struct Events {
    sender: broadcast::Sender<Change>,
}

impl Default for Events {
    fn default() -> Self {
        Self { sender: broadcast::Sender::new(256) }
    }
}

impl Events {
    /// Calls out a change.
    pub fn tell(&self, change: Change) {
        // An error only says that nobody listens.
        let _ = self.sender.send(change);
    }

    /// Listens from now on.
    pub fn listen(&self) -> broadcast::Receiver<Change> {
        self.sender.subscribe()
    }
}
