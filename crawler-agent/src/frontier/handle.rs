//! Shared access to the frontier, and the threads that sync it and make checkpoints.

use std::{
    sync::{
        Arc, Mutex,
        mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel},
    },
    thread::JoinHandle,
    time::Duration,
};

use tokio::sync::{Notify, oneshot};

use super::{
    Change, Counts, Effect, Frontier, FrontierError, HostBundle, HostNumber, HostSnapshot, Progress,
};
use crate::lock::lock;

/// Interval between two syncs: a power failure costs at most the fetches of this time.
const SYNC_INTERVAL: Duration = Duration::from_secs(1);

/// Results that wait to be packed, in bytes, from which on no fetch begins: the disk or the
/// processor is too slow for more.
const MAX_RESULT_BYTES: usize = 24 << 20;

/// Handle of the frontier, for all tasks.
#[derive(Clone)]
pub struct FrontierHandle {
    frontier: Arc<Frontier>,
    failure: Failure,
    /// Notified when results were packed.
    packed: Arc<Notify>,
    keeper: Arc<Keeper>,
}

/// Where the first error goes.
#[derive(Clone)]
struct Failure(Arc<Mutex<Option<oneshot::Sender<FrontierError>>>>);

/// The thread that makes checkpoints, with another one that syncs; they end with the last handle.
struct Keeper {
    /// Starts the thread before the next second.
    wake: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl FrontierHandle {
    /// Starts the threads that sync the frontier and make checkpoints. The first error is sent to
    /// the receiver; from then on nothing is read or written.
    pub fn start(frontier: Frontier) -> std::io::Result<(Self, oneshot::Receiver<FrontierError>)> {
        let frontier = Arc::new(frontier);
        let (failed, failure) = oneshot::channel();
        let failed = Failure(Arc::new(Mutex::new(Some(failed))));
        // A capacity of 1 is enough. Wake-ups may coalesce, because the thread checks everything
        // whenever it runs.
        let (wake, woken) = sync_channel(1);
        let keeping = (Arc::clone(&frontier), failed.clone());
        let keep = move || keep(&keeping.0, &woken, &keeping.1);
        let thread = std::thread::Builder::new().name("frontier".into()).spawn(keep)?;
        let keeper = Arc::new(Keeper { wake: Some(wake), thread: Some(thread) });
        Ok((Self { frontier, failure: failed, packed: Arc::default(), keeper }, failure))
    }

    /// Applies one change, which survives the end of the process when this returns. Nearly always
    /// everything is in memory, so that this does not block for long.
    pub fn apply(&self, change: Change) -> Result<Effect, FrontierError> {
        let is_packing = matches!(change, Change::Sealed { .. });
        let effect = self.failure.note(self.frontier.apply(change))?;
        if is_packing {
            self.packed.notify_waiters();
        }
        if self.frontier.has_long_log() {
            self.keeper.wake();
        }
        Ok(effect)
    }

    /// Applies a change until nothing of it is left; returns whether there are new results.
    pub fn apply_wholly(&self, change: &Change) -> Result<bool, FrontierError> {
        let mut has_results = false;
        loop {
            let effect = self.apply(change.clone())?;
            has_results |= effect.results;
            if effect.progress != Progress::Partial {
                return Ok(has_results);
            }
        }
    }

    /// Makes all changes so far durable.
    pub async fn sync(&self) -> Result<(), FrontierError> {
        self.read(Frontier::sync).await
    }

    /// Makes all changes so far durable, on a thread that may block.
    pub fn sync_here(&self) -> Result<(), FrontierError> {
        self.failure.note(self.frontier.sync())
    }

    /// Reads on a thread that may block.
    pub async fn read<T: Send + 'static>(
        &self,
        reading: impl FnOnce(&Frontier) -> Result<T, FrontierError> + Send + 'static,
    ) -> Result<T, FrontierError> {
        let frontier = Arc::clone(&self.frontier);
        let read = tokio::task::spawn_blocking(move || reading(&frontier)).await;
        self.failure.note(read.unwrap_or(Err(FrontierError::Closed)))
    }

    /// State of a host; none when the host is not the agent's.
    pub async fn snapshot(&self, host: HostNumber) -> Result<Option<HostSnapshot>, FrontierError> {
        if self.failure.note(self.frontier.is_in_memory(host))? {
            return self.failure.note(self.frontier.snapshot(host));
        }
        self.read(move |frontier| frontier.snapshot(host)).await
    }

    /// Number of the host with this scheme and authority; none when it is not the agent's.
    pub fn host_number(&self, key: &str) -> Result<Option<HostNumber>, FrontierError> {
        self.failure.note(self.frontier.host_number(key))
    }

    /// The bundle of a host, made on a thread that may block.
    pub fn bundle_here(&self, host: HostNumber) -> Result<Option<HostBundle>, FrontierError> {
        self.failure.note(self.frontier.bundle(host))
    }

    /// Paths of a host's queue, and of its pages.
    pub fn paths(&self, host: HostNumber) -> Result<(Vec<String>, Vec<String>), FrontierError> {
        self.failure.note(self.frontier.paths(host))
    }

    /// Counts for status and heartbeat.
    pub fn counts(&self) -> Result<Counts, FrontierError> {
        self.failure.note(self.frontier.counts())
    }

    /// Number of the last result that is not packed; 0 when there is none.
    pub fn last_result(&self) -> Result<u64, FrontierError> {
        self.failure.note(self.frontier.last_result())
    }

    /// Whether there is room for further results.
    pub fn has_room(&self) -> Result<bool, FrontierError> {
        Ok(self.failure.note(self.frontier.result_bytes())? < MAX_RESULT_BYTES)
    }

    /// Waits until there is room for further results.
    pub async fn until_room(&self) -> Result<(), FrontierError> {
        loop {
            // Made before the question, so that no packing in between is missed.
            let packed = self.packed.notified();
            if self.has_room()? {
                return Ok(());
            }
            packed.await;
        }
    }

    /// Epoch of the frontier; see [`Frontier::epoch`].
    pub fn epoch(&self) -> u64 {
        self.frontier.epoch()
    }
}

impl Failure {
    /// Sends the first error to the receiver, and a short one to the caller.
    fn note<T>(&self, result: Result<T, FrontierError>) -> Result<T, FrontierError> {
        result.map_err(|error| {
            let mut failed = lock(&self.0);
            if let Some(failed) = failed.take() {
                // There is no receiver when the agent is stopping.
                drop(failed.send(error));
            }
            FrontierError::Closed
        })
    }
}

impl Keeper {
    fn wake(&self) {
        // Fails where the thread is to be woken already.
        let _ = self.wake.as_ref().map(|wake| wake.try_send(()));
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.wake = None;
        // The next frontier of this directory can be opened only when the thread has ended.
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

/// Makes checkpoints when they are due, and syncs every second, until there is no handle any more.
fn keep(frontier: &Frontier, woken: &Receiver<()>, failure: &Failure) {
    let (stop, stopped) = sync_channel(0);
    std::thread::scope(|scope| {
        // On a thread of its own: on a slow disk a checkpoint takes more than a second.
        scope.spawn(move || sync_every_second(frontier, &stopped, failure));
        make_checkpoints(frontier, woken, failure);
        drop(stop);
    });
}

/// Makes checkpoints when they are due, and a last one when all handles are dropped.
fn make_checkpoints(frontier: &Frontier, woken: &Receiver<()>, failure: &Failure) {
    let _report = PanicReport(failure);
    loop {
        let is_last = woken.recv_timeout(SYNC_INTERVAL) == Err(RecvTimeoutError::Disconnected);
        let made = match frontier.needs_checkpoint() {
            Ok(is_due) if is_due || is_last => frontier.checkpoint(),
            needed => needed.map(drop),
        };
        if failure.note(made).is_err() || is_last {
            return;
        }
    }
}

/// Syncs every second until the other end of the channel is dropped.
fn sync_every_second(frontier: &Frontier, stopped: &Receiver<()>, failure: &Failure) {
    let _report = PanicReport(failure);
    while stopped.recv_timeout(SYNC_INTERVAL) == Err(RecvTimeoutError::Timeout) {
        if failure.note(frontier.sync()).is_err() {
            return;
        }
    }
}

/// Sends an error if the thread panics: without it, the log would grow for ever.
struct PanicReport<'f>(&'f Failure);

impl Drop for PanicReport<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            // The caller is gone; the receiver ends the agent.
            drop(self.0.note::<()>(Err(FrontierError::Closed)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frontier::Report;

    fn report(url: &str) -> Change {
        Change::Report { reports: vec![Report { url: url.into(), redirects: 0 }] }
    }

    #[test]
    fn changes_are_synced_also_while_a_checkpoint_is_made() {
        let dir = tempfile::tempdir().unwrap();
        let frontier = Frontier::open(dir.path(), 7).unwrap();
        let (store, _failure) = FrontierHandle::start(frontier).unwrap();
        let checkpointing = lock(&store.frontier.checkpointing);
        let long = format!("http://h.test/{}", "x".repeat(1 << 20));
        while !store.frontier.has_long_log() {
            store.apply(report(&long)).unwrap();
        }
        store.apply(report("http://h.test/")).unwrap();
        while !store.frontier.is_synced() {
            std::thread::yield_now();
        }
        drop(checkpointing);
    }
}
