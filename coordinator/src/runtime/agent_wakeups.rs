//! Agents hold a heartbeat open: here is how the news of one of them reaches it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use protocol::AgentId;
use tokio::sync::Notify;

use crate::tasks::peer_hints::PeerHints;

/// One bell per agent that ever heartbeat since the coordinator started.
#[derive(Debug, Default)]
pub struct AgentWakeups {
    bells: Mutex<HashMap<AgentId, Arc<Notify>>>,
    peer_hints: Arc<PeerHints>,
}

impl AgentWakeups {
    /// What is rung here is said to the other coordinators, too: the agent's heartbeat may be held open
    /// by one of them.
    pub fn new(peer_hints: Arc<PeerHints>) -> Self {
        Self { peer_hints, ..Self::default() }
    }

    /// The bell of an agent. Register with it *before* looking at the database, so that nothing
    /// falls in between.
    pub fn bell(&self, agent: AgentId) -> Arc<Notify> {
        let mut bells = self.bells.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(bells.entry(agent).or_default())
    }

    /// There is something new for these agents: every heartbeat of theirs that is held open, here or
    /// elsewhere, looks again.
    pub fn wake(&self, agents: impl IntoIterator<Item = AgentId>) {
        let agents: Vec<AgentId> = agents.into_iter().collect();
        self.wake_local(agents.iter().copied());
        self.peer_hints.wake(agents);
    }

    /// The same for heartbeats that this coordinator holds.
    pub fn wake_local(&self, agents: impl IntoIterator<Item = AgentId>) {
        let bells = self.bells.lock().unwrap_or_else(PoisonError::into_inner);
        for agent in agents {
            if let Some(bell) = bells.get(&agent) {
                bell.notify_waiters();
            }
        }
    }

    /// Something new may have been missed: everybody looks again.
    pub fn wake_all_local(&self) {
        let bells = self.bells.lock().unwrap_or_else(PoisonError::into_inner);
        bells.values().for_each(|bell| bell.notify_waiters());
    }
}
