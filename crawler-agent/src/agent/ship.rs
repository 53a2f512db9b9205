//! Packs results and sends packages until they are acknowledged.

use std::{sync::Arc, time::Duration};

use protocol::package::PackageName;

use super::{AgentError, Shared};
use crate::{backoff::Backoff, coordinator_client::CoordinatorError, error_line};

pub(super) async fn pack(shared: Arc<Shared>) -> Result<(), AgentError> {
    Ok(shared.outbox.pack_until(&shared.stop, &shared.pack_trigger, &shared.sealed).await?)
}

/// Sends whatever is sealed, oldest first.
pub(super) async fn send(shared: Arc<Shared>) -> Result<(), AgentError> {
    let sending = async {
        loop {
            once(&shared).await?;
            shared.sealed.notified().await;
            awake(&shared).await;
        }
    };
    shared.stop.run_until_cancelled(sending).await.unwrap_or(Ok(()))
}

/// Outside the spans nothing is sent, but for what was fetched last: it is sealed within moments of
/// the end.
async fn awake(shared: &Shared) {
    let mut readiness = shared.readiness.subscribe();
    let awake = readiness.wait_for(|readiness| readiness.asleep.is_none());
    // Whichever comes first.
    drop(tokio::time::timeout(shared.config.ship.age * 2, awake).await);
}

/// Sends every package there is.
pub(super) async fn once(shared: &Shared) -> Result<(), AgentError> {
    for name in shared.outbox.waiting().await? {
        ship(shared, name).await?;
    }
    Ok(())
}

async fn ship(shared: &Shared, name: PackageName) -> Result<(), AgentError> {
    let Some(bytes) = shared.outbox.bytes(name)? else {
        tracing::error!(package = name.seq, "a package's file is gone; its pages are lost");
        return Ok(shared.outbox.acknowledged(name).await?);
    };
    let mut backoff = Backoff::default();
    loop {
        match shared.coordinator.send_package(name, &bytes).await {
            Ok(()) => {
                shared.outbox.acknowledged(name).await?;
                if !shared.host_orders.is_empty() {
                    shared.host_orders.done.notify_one();
                }
                return Ok(());
            }
            Err(error) if is_spoilt(&error) => {
                let error = error_line::of(&error);
                tracing::error!(
                    error,
                    package = name.seq,
                    "a package was refused; it is kept in packages/refused"
                );
                return Ok(shared.outbox.set_aside(name).await?);
            }
            // Being banned is the heartbeat's to say.
            Err(error) => rest(name, &error, backoff.next(rand::random())).await,
        }
    }
}

async fn rest(name: PackageName, error: &CoordinatorError, pause: Duration) {
    let error = error_line::of(error);
    tracing::warn!(error, package = name.seq, ?pause, "a package could not be sent");
    tokio::time::sleep(pause).await;
}

/// Whether this very package will never be taken.
fn is_spoilt(error: &CoordinatorError) -> bool {
    matches!(error, CoordinatorError::Refused { status: 400 | 413 | 422, .. })
}
