//! The operator's policy: read, changed, told.

use std::sync::Arc;

use model::Policy;
use store::StoreError;
use store::policy;

use crate::runtime::events::Event;
use crate::runtime::state::Coordinator;

/// Replaces the policy. It holds at once; strategy and threshold for searches that are opened from
/// now on.
pub async fn change(coordinator: &Coordinator, policy: Policy) -> Result<(), StoreError> {
    policy::write(&coordinator.store, &policy, coordinator.now()).await?;
    take_up(coordinator, policy);
    Ok(())
}

/// Reads the policy anew, in case another coordinator changed it.
pub async fn refresh(coordinator: &Coordinator) -> Result<(), StoreError> {
    let policy = policy::read(&coordinator.store).await?;
    if policy != **coordinator.policy.load() {
        take_up(coordinator, policy);
    }
    Ok(())
}

fn take_up(coordinator: &Coordinator, policy: Policy) {
    coordinator.policy.store(Arc::new(policy));
    // Agents go by it at once.
    coordinator.agent_wakeups.wake_all_local();
    coordinator.events.emit(Event::PolicyChanged);
}
