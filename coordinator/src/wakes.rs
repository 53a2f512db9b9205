//! Agents hold a beat open: here is how the news of one of them reaches it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use protocol::AgentId;
use tokio::sync::Notify;

use crate::gossip::Unsaid;

/// One bell per agent that ever beat since the coordinator started.
#[derive(Debug, Default)]
pub struct Wakes {
    bells: Mutex<HashMap<AgentId, Arc<Notify>>>,
    unsaid: Arc<Unsaid>,
}

impl Wakes {
    /// What is rung here is said to the other coordinators, too: the agent's beat may be held open
    /// by one of them.
    pub fn new(unsaid: Arc<Unsaid>) -> Self {
        Self { unsaid, ..Self::default() }
    }

    /// The bell of an agent. Register with it *before* looking at the database, so that nothing
    /// falls in between.
    pub fn bell(&self, agent: AgentId) -> Arc<Notify> {
        let mut bells = self.bells.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(bells.entry(agent).or_default())
    }

    /// There is something new for these agents: every beat of theirs that is held open, here or
    /// elsewhere, looks again.
    pub fn ring(&self, agents: impl IntoIterator<Item = AgentId>) {
        let agents: Vec<AgentId> = agents.into_iter().collect();
        self.ring_here(agents.iter().copied());
        self.unsaid.wake(agents);
    }

    /// The same for beats that this coordinator holds.
    pub fn ring_here(&self, agents: impl IntoIterator<Item = AgentId>) {
        let bells = self.bells.lock().unwrap_or_else(PoisonError::into_inner);
        for agent in agents {
            if let Some(bell) = bells.get(&agent) {
                bell.notify_waiters();
            }
        }
    }

    /// Something new may have been missed: everybody looks again.
    pub fn ring_all_here(&self) {
        let bells = self.bells.lock().unwrap_or_else(PoisonError::into_inner);
        bells.values().for_each(|bell| bell.notify_waiters());
    }
}
