//! Ends work that waits for a database server that is gone without a word.

use std::time::Duration;

use store::{Store, StoreError};
use tokio_util::sync::CancellationToken;

use crate::runtime::failure::chain;

/// Pause after a failure.
const PAUSE: Duration = Duration::from_secs(2);

/// What the work results in; an error if the server falls silent for so long meanwhile that the
/// work may wait for ever and keep its locks. See [`Store::lost`].
pub async fn unless_lost<T>(store: &Store, work: impl Future<Output = T>) -> Result<T, StoreError> {
    tokio::select! {
        result = work => Ok(result),
        error = store.lost() => Err(error),
    }
}

/// Repeats work with notifications of the database, which ends only with an error, until the
/// coordinator stops.
pub async fn repeat<F: Future<Output = StoreError>>(
    store: &Store,
    stop: &CancellationToken,
    work: impl Fn() -> F,
) {
    let forever = async {
        loop {
            let error = unless_lost(store, work()).await.unwrap_or_else(|silent| silent);
            tracing::warn!(error = chain(&error), "cannot exchange notifications");
            tokio::time::sleep(PAUSE).await;
        }
    };
    tokio::select! {
        () = stop.cancelled() => {}
        () = forever => {}
    }
}
