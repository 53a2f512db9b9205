//! The server's view of one connection, shared by its stream, its requests and its handlers.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use model::AgentId;

use super::activity::Activity;
use super::admission::{ConnectionId, Connections};

/// All open connections of a server.
pub(super) type SharedConnections = Arc<Mutex<Connections>>;

pub(super) fn locked(connections: &SharedConnections) -> MutexGuard<'_, Connections> {
    connections.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The connection of a request, as an extension of it.
#[derive(Clone)]
pub struct ConnectionHandle {
    pub(super) id: ConnectionId,
    pub(super) activity: Arc<Activity>,
    pub(super) connections: SharedConnections,
}

impl ConnectionHandle {
    /// A request on this connection proved the session of `agent`, so the connection is one of
    /// those that are reserved for agents.
    pub fn mark_agent(&self, agent: AgentId) {
        locked(&self.connections).mark_agent(self.id, agent);
    }

    /// A request has arrived; it is in progress until the returned value is dropped.
    pub(super) fn begin_request(&self) -> RequestInProgress {
        self.activity.request_began();
        locked(&self.connections).mark_busy(self.id);
        RequestInProgress(self.clone())
    }
}

/// A request whose response is not complete.
pub(super) struct RequestInProgress(ConnectionHandle);

impl Drop for RequestInProgress {
    fn drop(&mut self) {
        if self.0.activity.request_ended(Instant::now()) {
            locked(&self.0.connections).mark_idle(self.0.id);
        }
    }
}
