//! Notifies the heartbeats that agents hold open.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use model::AgentId;
use tokio::sync::Notify;

use crate::runtime::peer_hints::PeerHints;

/// One signal for each agent that sent a heartbeat since the coordinator started.
#[derive(Debug, Default)]
pub struct AgentWakeups {
    signals: Mutex<HashMap<AgentId, Arc<Notify>>>,
    peer_hints: Arc<PeerHints>,
}

impl AgentWakeups {
    /// Forwards wake-ups to the other coordinators, too: one of them may hold the heartbeat.
    pub fn new(peer_hints: Arc<PeerHints>) -> Self {
        Self { peer_hints, ..Self::default() }
    }

    /// The signal of an agent. Register with it *before* reading the database: a change in between
    /// would be missed.
    pub fn signal(&self, agent: AgentId) -> Arc<Notify> {
        let mut signals = self.signals.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(signals.entry(agent).or_default())
    }

    /// Notifies every open heartbeat of these agents, at this and at the other coordinators.
    pub fn wake(&self, agents: impl IntoIterator<Item = AgentId>) {
        let agents: Vec<AgentId> = agents.into_iter().collect();
        self.wake_local(agents.iter().copied());
        self.peer_hints.wake_agents(agents);
    }

    /// Notifies the heartbeats of these agents that this coordinator holds.
    pub fn wake_local(&self, agents: impl IntoIterator<Item = AgentId>) {
        let signals = self.signals.lock().unwrap_or_else(PoisonError::into_inner);
        for agent in agents {
            if let Some(signal) = signals.get(&agent) {
                signal.notify_waiters();
            }
        }
    }

    /// Notifies every heartbeat that this coordinator holds.
    pub fn wake_all_local(&self) {
        let signals = self.signals.lock().unwrap_or_else(PoisonError::into_inner);
        signals.values().for_each(|signal| signal.notify_waiters());
    }
}
