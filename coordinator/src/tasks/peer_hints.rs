//! What coordinators on one database tell each other, so that a second one is as quick as the
//! first.
//!
//! Only one decides, but agents and admins talk to any. Two things must get around: that there is
//! something new for an agent, whose heartbeat another coordinator may hold open, and that there is work
//! for a background task, which runs at the leader only. Both are hints: what is lost is found when a
//! period is over. They travel as NOTIFY, collected for a moment.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use protocol::AgentId;
use store::{Listener, StoreError, tell};
use tokio::sync::Notify;

use crate::runtime::failure::chain;
use crate::runtime::state::Coordinator;
use crate::tasks;

/// The NOTIFY channel.
const CHANNEL: &str = "nearcrawl_gossip";
/// How long hints are collected before they are said together.
const MOMENT: Duration = Duration::from_millis(20);
/// Agents in one message: NOTIFY carries less than 8,000 bytes.
const AGENTS: usize = 300;
/// Pause after a failure.
const PAUSE: Duration = Duration::from_secs(2);

/// Hints that wait to be said.
#[derive(Debug, Default)]
pub struct PeerHints {
    hints: Mutex<Hints>,
    bell: Notify,
}

/// What is said at once.
#[derive(Debug, Default, PartialEq, Eq)]
struct Hints {
    agents: BTreeSet<AgentId>,
    tasks: BTreeSet<String>,
}

impl PeerHints {
    /// There is something new for these agents.
    pub fn wake(&self, agents: impl IntoIterator<Item = AgentId>) {
        self.add(|hints| hints.agents.extend(agents));
    }

    /// There is work for this background task.
    pub fn poke(&self, task: &str) {
        self.add(|hints| {
            hints.tasks.insert(task.to_owned());
        });
    }

    fn add(&self, change: impl FnOnce(&mut Hints)) {
        change(&mut self.hints.lock().unwrap_or_else(PoisonError::into_inner));
        self.bell.notify_one();
    }

    fn take(&self) -> Hints {
        std::mem::take(&mut *self.hints.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Hints {
    /// One message for each so many agents: the speaker, then agents by number and background tasks by
    /// name.
    fn messages(&self, speaker: u64) -> Vec<String> {
        let words: Vec<String> = self
            .agents
            .iter()
            .map(|agent| agent.get().to_string())
            .chain(self.tasks.iter().cloned())
            .collect();
        words.chunks(AGENTS).map(|words| format!("{speaker} {}", words.join(" "))).collect()
    }

    /// What another speaker said; none when it was ourselves.
    fn heard(message: &str, ourselves: u64) -> Option<Self> {
        let mut words = message.split(' ');
        if words.next()?.parse() == Ok(ourselves) {
            return None;
        }
        let mut hints = Self::default();
        for word in words {
            match word.parse() {
                Ok(agent) => drop(hints.agents.insert(AgentId::new(agent))),
                Err(_) => drop(hints.tasks.insert(word.to_owned())),
            }
        }
        Some(hints)
    }
}

/// Speaks and listens until the coordinator stops.
pub async fn run(coordinator: Arc<Coordinator>) {
    let ourselves = rand::random();
    tokio::join!(
        again(&coordinator, || speak(&coordinator, ourselves)),
        again(&coordinator, || listen(&coordinator, ourselves)),
    );
}

/// Does it until the coordinator stops, again after each failure.
pub(crate) async fn again<F: Future<Output = StoreError>>(
    coordinator: &Coordinator,
    work: impl Fn() -> F,
) {
    let forever = async {
        loop {
            let error = work().await;
            tracing::warn!(error = chain(&error), "cannot talk to other coordinators");
            tokio::time::sleep(PAUSE).await;
        }
    };
    tokio::select! {
        () = coordinator.stop.cancelled() => {}
        () = forever => {}
    }
}

async fn speak(coordinator: &Coordinator, ourselves: u64) -> StoreError {
    loop {
        coordinator.peer_hints.bell.notified().await;
        tokio::time::sleep(MOMENT).await;
        for message in coordinator.peer_hints.take().messages(ourselves) {
            if let Err(error) = tell(&coordinator.store, CHANNEL, &message).await {
                return error;
            }
        }
    }
}

async fn listen(coordinator: &Coordinator, ourselves: u64) -> StoreError {
    let mut listener = match Listener::open(&coordinator.store, CHANNEL).await {
        Ok(listener) => listener,
        Err(error) => return error,
    };
    loop {
        match listener.heard().await {
            Ok(Some(message)) => {
                if let Some(hints) = Hints::heard(&message, ourselves) {
                    take_up(coordinator, hints);
                }
            }
            Ok(None) => {
                coordinator.agent_wakeups.wake_all_local();
                coordinator.task_signals.all();
            }
            Err(error) => return error,
        }
    }
}

/// Who does not decide does not say it again: nothing goes to and fro.
fn take_up(coordinator: &Coordinator, hints: Hints) {
    coordinator.agent_wakeups.wake_local(hints.agents);
    if coordinator.is_leader() {
        hints.tasks.iter().for_each(|name| tasks::wake(&coordinator.task_signals, name));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_come_as_they_were_said_but_not_to_the_speaker() {
        let peer_hints = PeerHints::default();
        peer_hints.wake([7, 3, 7].map(AgentId::new));
        peer_hints.poke("drive_searches");
        let hints = peer_hints.take();
        let messages = hints.messages(99);
        assert_eq!(messages, ["99 3 7 drive_searches"]);
        assert_eq!(Hints::heard(&messages[0], 99), None);
        assert_eq!(Hints::heard(&messages[0], 98), Some(hints));
        assert_eq!(peer_hints.take(), Hints::default());
    }

    #[test]
    fn many_agents_are_several_messages_below_the_limit() {
        let peer_hints = PeerHints::default();
        peer_hints.wake((0..1_000).map(|number| AgentId::new(i64::MAX - number)));
        let messages = peer_hints.take().messages(u64::MAX);
        assert_eq!(messages.len(), 4);
        assert!(messages.iter().all(|message| message.len() < 8_000));
    }
}
