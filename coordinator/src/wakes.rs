//! Agents hold a beat open: here is how the news of one of them reaches it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use protocol::AgentId;
use tokio::sync::Notify;

/// One bell per agent that ever beat since the coordinator started.
#[derive(Debug, Default)]
pub struct Wakes {
    bells: Mutex<HashMap<AgentId, Arc<Notify>>>,
}

impl Wakes {
    /// The bell of an agent. Register with it *before* looking at the database, so that nothing falls in
    /// between.
    pub fn bell(&self, agent: AgentId) -> Arc<Notify> {
        let mut bells = self.bells.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(bells.entry(agent).or_default())
    }

    /// There is something new for these agents: every beat of theirs that is held open looks again.
    pub fn ring(&self, agents: impl IntoIterator<Item = AgentId>) {
        let bells = self.bells.lock().unwrap_or_else(PoisonError::into_inner);
        for agent in agents {
            if let Some(bell) = bells.get(&agent) {
                bell.notify_waiters();
            }
        }
    }
}
