//! Listens for new generations of the hierarchy, which the loader announces by NOTIFY.

use std::convert::Infallible;

use store::{Listener, Store, StoreError, generations};
use tokio_util::sync::CancellationToken;

use crate::runtime::events::{Event, Events};
use crate::runtime::lost_database::repeat;

/// Listens until `stop` is cancelled. Without the listener the task `reload_hierarchy` finds a new
/// generation when its period is over.
pub async fn run(store: &Store, events: &Events, stop: &CancellationToken) {
    repeat(store, stop, || async {
        match listen(store, events).await {
            Ok(never) => match never {},
            Err(error) => error,
        }
    })
    .await;
}

async fn listen(store: &Store, events: &Events) -> Result<Infallible, StoreError> {
    let mut listener = Listener::open(store, generations::CHANNEL).await?;
    loop {
        listener.receive().await?;
        events.emit(Event::GenerationLoaded);
    }
}
