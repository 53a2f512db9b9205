//! Ends work that waits for a database server that is gone without a word.

use store::Store;

/// What the work results in; none where the server has been silent for so long meanwhile that the
/// work may wait for ever, and keep its locks. See [`Store::lost`].
pub async fn unless_lost<T>(store: &Store, work: impl Future<Output = T>) -> Option<T> {
    tokio::select! {
        result = work => Some(result),
        () = store.lost() => None,
    }
}
