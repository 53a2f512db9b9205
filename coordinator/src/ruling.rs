//! The operator's policy: read, changed, told.

use std::sync::Arc;

use store::StoreError;
use store::policy::{self, Policy};

use crate::events::Change;
use crate::state::Coordinator;

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
    coordinator.pokes.drive_searches.notify_one();
    coordinator.pokes.choose_landmarks.notify_one();
    coordinator.pokes.measure_landmarks.notify_one();
    // Agents go by it at once.
    coordinator.wakes.ring_all_here();
    coordinator.events.tell(Change::Policy);
}
