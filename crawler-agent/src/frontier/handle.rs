//! Shared access to the frontier: one writing thread, on which changes that arrive while the disk
//! is busy share the next transaction, and so the next fsync.

use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};

use super::{Change, Effect, Frontier, FrontierError};

/// Most changes of one transaction.
const MAX_CHANGES: usize = 256;

type Answer = oneshot::Sender<Result<Effect, FrontierError>>;

/// Handle of the frontier, for all tasks. Clones share the writer.
#[derive(Clone)]
pub struct FrontierHandle {
    frontier: Arc<Frontier>,
    changes: mpsc::Sender<(Change, Answer)>,
}

impl FrontierHandle {
    /// Starts the writer. It ends with the last clone of the handle, or at the first error, which
    /// it sends to the receiver.
    pub fn start(frontier: Frontier) -> std::io::Result<(Self, oneshot::Receiver<FrontierError>)> {
        let frontier = Arc::new(frontier);
        let (changes, inbox) = mpsc::channel(MAX_CHANGES);
        let (failed, failure) = oneshot::channel();
        let writing = Arc::clone(&frontier);
        let writer = move || write(&writing, inbox, failed);
        std::thread::Builder::new().name("frontier".into()).spawn(writer)?;
        Ok((Self { frontier, changes }, failure))
    }

    /// Applies one change, which is durable when this returns.
    pub async fn apply(&self, change: Change) -> Result<Effect, FrontierError> {
        let (answer, answered) = oneshot::channel();
        self.changes.send((change, answer)).await.map_err(|_| FrontierError::Closed)?;
        answered.await.map_err(|_| FrontierError::Closed)?
    }

    /// Reads on a thread that may block.
    pub async fn read<T: Send + 'static>(
        &self,
        reading: impl FnOnce(&Frontier) -> Result<T, FrontierError> + Send + 'static,
    ) -> Result<T, FrontierError> {
        let frontier = Arc::clone(&self.frontier);
        let read = tokio::task::spawn_blocking(move || reading(&frontier)).await;
        read.map_err(|_| FrontierError::Closed)?
    }

    /// Epoch of the file; see [`Frontier::epoch`].
    pub fn epoch(&self) -> u64 {
        self.frontier.epoch()
    }
}

fn write(
    frontier: &Frontier,
    mut inbox: mpsc::Receiver<(Change, Answer)>,
    failed: oneshot::Sender<FrontierError>,
) {
    while let Some(first) = inbox.blocking_recv() {
        let mut changes = vec![first.0];
        let mut answers = vec![first.1];
        while changes.len() < MAX_CHANGES {
            let Ok((change, answer)) = inbox.try_recv() else { break };
            changes.push(change);
            answers.push(answer);
        }
        let effects = match frontier.apply(&changes) {
            Ok(effects) => effects,
            // Sent before the answers are dropped, so that tasks which then fail can report the
            // cause. Nobody receives it when the agent is stopping.
            Err(error) => return drop(failed.send(error)),
        };
        // A caller that was cancelled takes no answer; its change is applied all the same.
        answers.into_iter().zip(effects).for_each(|(answer, effect)| drop(answer.send(Ok(effect))));
    }
}
