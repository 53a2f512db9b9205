//! One writer for everybody: changes that arrive while the disk is busy share the next transaction.

use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};

use super::{Change, Effect, Frontier, FrontierError};

/// Most changes in one transaction.
const MAX_CHANGES: usize = 256;

type Answer = oneshot::Sender<Result<Effect, FrontierError>>;

/// Takes changes, and answers when they are on disk. Cloning is cheap.
#[derive(Clone)]
pub struct FrontierHandle {
    frontier: Arc<Frontier>,
    changes: mpsc::Sender<(Change, Answer)>,
}

impl FrontierHandle {
    /// Starts the writer. It ends when the last clone is gone, or at the first error, which it
    /// sends to the receiver.
    pub fn start(frontier: Frontier) -> std::io::Result<(Self, oneshot::Receiver<FrontierError>)> {
        let frontier = Arc::new(frontier);
        let (changes, inbox) = mpsc::channel(MAX_CHANGES);
        let (failed, failure) = oneshot::channel();
        let writing = Arc::clone(&frontier);
        let writer = move || write(&writing, inbox, failed);
        std::thread::Builder::new().name("frontier".into()).spawn(writer)?;
        Ok((Self { frontier, changes }, failure))
    }

    /// Makes one change; it is durable when this returns.
    pub async fn apply(&self, change: Change) -> Result<Effect, FrontierError> {
        let (answer, answered) = oneshot::channel();
        self.changes.send((change, answer)).await.map_err(|_| FrontierError::Closed)?;
        answered.await.map_err(|_| FrontierError::Closed)?
    }

    /// Reads, on a thread that may block.
    pub async fn read<T: Send + 'static>(
        &self,
        reading: impl FnOnce(&Frontier) -> Result<T, FrontierError> + Send + 'static,
    ) -> Result<T, FrontierError> {
        let frontier = Arc::clone(&self.frontier);
        let read = tokio::task::spawn_blocking(move || reading(&frontier)).await;
        read.map_err(|_| FrontierError::Closed)?
    }

    /// Names the store.
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
        let (mut changes, mut answers) = (vec![first.0], vec![first.1]);
        while changes.len() < MAX_CHANGES {
            let Ok((change, answer)) = inbox.try_recv() else { break };
            changes.push(change);
            answers.push(answer);
        }
        let effects = match frontier.apply(&changes) {
            Ok(effects) => effects,
            // Before the answers are dropped, so that whoever waits for them finds the cause.
            // Nobody listens when the program is ending.
            Err(error) => return drop(failed.send(error)),
        };
        // Nobody waits any more for an answer that can't be sent; the change is made all the same.
        answers.into_iter().zip(effects).for_each(|(answer, effect)| drop(answer.send(Ok(effect))));
    }
}
