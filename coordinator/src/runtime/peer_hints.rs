//! Hints for the other coordinators on the same database.
//!
//! A hint says that there is something new for an agent, whose heartbeat another coordinator may
//! hold open, or that a background task has work, at the leader or at every coordinator. A lost
//! hint costs time only: the task runs anyway when its period is over. `tasks::peer_notifications`
//! sends and receives the hints.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use model::AgentId;
use tokio::sync::Notify;

/// Names in one message: NOTIFY carries less than 8,000 bytes.
const NAMES_PER_MESSAGE: usize = 300;

/// Hints that wait to be sent.
#[derive(Debug, Default)]
pub struct PeerHints {
    pending: Mutex<Hints>,
    added: Notify,
}

/// Hints that are sent together.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Hints {
    /// Agents for which there is something new.
    pub agents: BTreeSet<AgentId>,
    /// Names of background tasks that have work.
    pub tasks: BTreeSet<String>,
}

impl PeerHints {
    /// There is something new for these agents.
    pub fn wake_agents(&self, agents: impl IntoIterator<Item = AgentId>) {
        self.add(|hints| hints.agents.extend(agents));
    }

    /// This background task has work, at the leader or, if all coordinators run it, at all.
    pub fn wake_task(&self, task: &str) {
        self.add(|hints| {
            hints.tasks.insert(task.to_owned());
        });
    }

    /// Returns when hints are waiting.
    pub async fn added(&self) {
        self.added.notified().await;
    }

    /// Takes the waiting hints out.
    pub fn take(&self) -> Hints {
        std::mem::take(&mut *self.pending.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn add(&self, change: impl FnOnce(&mut Hints)) {
        change(&mut self.pending.lock().unwrap_or_else(PoisonError::into_inner));
        self.added.notify_one();
    }
}

impl Hints {
    /// The hints as messages: the sender, then agents by number and background tasks by name,
    /// separated by spaces.
    pub fn messages(&self, sender: u64) -> Vec<String> {
        let agents = self.agents.iter().map(|agent| agent.get().to_string());
        let names: Vec<String> = agents.chain(self.tasks.iter().cloned()).collect();
        let messages = names.chunks(NAMES_PER_MESSAGE);
        messages.map(|names| format!("{sender} {}", names.join(" "))).collect()
    }

    /// Parses a message of another coordinator; `None` for a message of this one.
    pub fn parse(message: &str, this: u64) -> Option<Self> {
        let mut names = message.split(' ');
        // Postgres delivers a notification to its sender as well.
        if names.next()?.parse() == Ok(this) {
            return None;
        }
        let mut hints = Self::default();
        for name in names {
            match name.parse() {
                Ok(agent) => {
                    hints.agents.insert(AgentId::new(agent));
                }
                Err(_) => {
                    hints.tasks.insert(name.to_owned());
                }
            }
        }
        Some(hints)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_reach_other_coordinators_but_not_the_sender() {
        let peer_hints = PeerHints::default();
        peer_hints.wake_agents([7, 3, 7].map(AgentId::new));
        peer_hints.wake_task("drive_searches");
        let hints = peer_hints.take();
        let messages = hints.messages(99);
        assert_eq!(messages, ["99 3 7 drive_searches"]);
        assert_eq!(Hints::parse(&messages[0], 99), None);
        assert_eq!(Hints::parse(&messages[0], 98), Some(hints));
        assert_eq!(peer_hints.take(), Hints::default());
    }

    #[test]
    fn many_agents_are_several_messages_below_the_limit() {
        let peer_hints = PeerHints::default();
        peer_hints.wake_agents((0..1_000).map(|number| AgentId::new(i64::MAX - number)));
        let messages = peer_hints.take().messages(u64::MAX);
        assert_eq!(messages.len(), 4);
        assert!(messages.iter().all(|message| message.len() < 8_000));
    }
}
