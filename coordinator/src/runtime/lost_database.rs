//! Ends work that waits for a database server that is gone without a word.
//!
//! Where a machine fails or a network is cut, nothing closes the connections. What waits for an
//! answer waits until TCP gives up, for a quarter of an hour or for ever, and keeps its locks.

use std::time::Duration;

use store::Store;

/// Time for which work may go on after the server fell silent, or after the leadership has ended.
/// A server that was only busy answers meanwhile.
pub const LONGEST_AFTERWARDS: Duration = Duration::from_secs(30);

/// Returns some time after the server falls silent. That it answers again does not help: the
/// answer may be that of another server, and the work waits for the former one.
pub async fn lost(store: &Store) {
    store.silence().await;
    tokio::time::sleep(LONGEST_AFTERWARDS).await;
}
