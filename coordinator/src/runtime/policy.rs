//! The policy in memory: settings that admins change while the coordinator runs.

use std::sync::Arc;

use arc_swap::{ArcSwap, Guard};
use model::Policy;
use store::policy;
use store::{Store, StoreError};

use crate::runtime::agent_wakeups::AgentWakeups;
use crate::runtime::events::{Event, Events};
use crate::runtime::outcome::Outcome;

/// The policy as last read from the database.
#[derive(Debug)]
pub struct CurrentPolicy {
    store: Store,
    events: Arc<Events>,
    agent_wakeups: Arc<AgentWakeups>,
    policy: ArcSwap<Policy>,
}

impl CurrentPolicy {
    /// Reads the policy for the first time.
    pub async fn read(
        store: Store,
        events: Arc<Events>,
        agent_wakeups: Arc<AgentWakeups>,
    ) -> Result<Self, StoreError> {
        let policy = ArcSwap::from_pointee(policy::settings(&store).await?.policy);
        Ok(Self { store, events, agent_wakeups, policy })
    }

    /// The policy now. Do not hold it across an await.
    pub fn load(&self) -> Guard<Arc<Policy>> {
        self.policy.load()
    }

    /// The policy now, to be kept for a while.
    pub fn load_full(&self) -> Arc<Policy> {
        self.policy.load_full()
    }

    /// The background task that notices a change made through another coordinator.
    pub async fn refresh(&self) -> Result<Outcome, anyhow::Error> {
        let policy = policy::settings(&self.store).await?.policy;
        if policy == **self.policy.load() {
            return Ok(Outcome::Idle);
        }
        self.replace(policy);
        Ok(Outcome::Done("read a changed policy".to_owned()))
    }

    /// Takes over a policy that is stored. It takes effect at once; strategy and threshold apply to
    /// searches that are opened from now on.
    pub fn replace(&self, policy: Policy) {
        self.policy.store(Arc::new(policy));
        // The answer to a heartbeat carries the policy that agents follow.
        self.agent_wakeups.wake_all_local();
        self.events.emit(Event::PolicyChanged);
    }
}
