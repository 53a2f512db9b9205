//! Readings that a scrape waits for, but not for long.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::timeout;

/// Readings of one kind, of which one runs at a time.
#[derive(Default)]
pub(super) struct Readings(Arc<Mutex<()>>);

impl Readings {
    /// What a reading brings within `patience`; none where it, or the one before it, takes longer.
    /// A reading goes on after that, because it holds connections to the database until it ends:
    /// each scrape would take further ones from a database that hangs.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        patience: Duration,
        reading: impl Future<Output = Option<T>> + Send + 'static,
    ) -> Option<T> {
        let turns = Arc::clone(&self.0);
        let in_turn = async move {
            let turn = turns.lock_owned().await;
            let running = tokio::spawn(async move {
                let read = reading.await;
                drop(turn);
                read
            });
            running.await.ok().flatten()
        };
        let read = timeout(patience, in_turn).await;
        if read.is_err() {
            tracing::warn!(?patience, "the metrics lack what was not read in time");
        }
        read.ok().flatten()
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test]
    async fn a_reading_that_hangs_is_missing_and_stays_the_only_one() {
        let readings = Readings::default();
        let (answer, answered) = oneshot::channel();
        let brief = Duration::from_millis(1);
        let hanging = readings.read(brief, async move { answered.await.ok() });
        assert_eq!(hanging.await, None);
        assert_eq!(readings.read(brief, async { Some(2) }).await, None, "it holds connections");
        answer.send(1).unwrap();
        let long = Duration::from_secs(60);
        assert_eq!(readings.read(long, async { Some(3) }).await, Some(3));
    }
}
