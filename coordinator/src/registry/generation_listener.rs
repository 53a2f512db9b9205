//! Listens for new generations of the hierarchy, which the loader announces by NOTIFY.

use std::convert::Infallible;
use std::time::Duration;

use store::{Listener, Store, StoreError, generations};
use tokio_util::sync::CancellationToken;

use crate::runtime::events::{Event, Events};
use crate::runtime::failure::chain;

/// Pause after a failure.
const PAUSE: Duration = Duration::from_secs(2);

/// Listens until `stop` is cancelled. Without the listener the task `reload_hierarchy` finds a new
/// generation when its period is over.
pub async fn run(store: &Store, events: &Events, stop: &CancellationToken) {
    while !stop.is_cancelled() {
        tokio::select! {
            () = stop.cancelled() => return,
            Err(error) = listen(store, events) => {
                tracing::warn!(error = chain(&error), "cannot listen for new generations");
            }
        }
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(PAUSE) => {}
        }
    }
}

async fn listen(store: &Store, events: &Events) -> Result<Infallible, StoreError> {
    let mut listener = Listener::open(store, generations::CHANNEL).await?;
    loop {
        listener.receive().await?;
        events.emit(Event::GenerationLoaded);
    }
}
