//! What the watching thread and the handle both touch.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tokio::sync::watch;

/// How the server is, as far as its owner knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Health {
    /// It answers.
    Ready,
    /// It ended and is being brought back.
    Down,
    /// It was told to stop and has ended.
    Stopped,
}

#[derive(Debug)]
pub(crate) struct Shared {
    inner: Mutex<Inner>,
    wake: Condvar,
    health: watch::Sender<Health>,
}

#[derive(Debug, Default)]
struct Inner {
    stopping: bool,
    finished: bool,
    postmaster: Option<Pid>,
}

impl Shared {
    pub(crate) fn new() -> Self {
        let health = watch::Sender::new(Health::Down);
        Self { inner: Mutex::default(), wake: Condvar::new(), health }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // Nothing in here can be left half changed, so a panic elsewhere does not matter.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for `time`, or until told to stop; true when told to stop.
    pub(crate) fn pause(&self, time: Duration) -> bool {
        let guard = self.lock();
        let waited = self.wake.wait_timeout_while(guard, time, |inner| !inner.stopping);
        waited.unwrap_or_else(PoisonError::into_inner).0.stopping
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.lock().stopping
    }

    /// Publishes our child's number while it is running. A stop that came while it was being made
    /// reaches it here.
    pub(crate) fn set_postmaster(&self, pid: Option<Pid>) {
        let mut inner = self.lock();
        inner.postmaster = pid;
        if inner.stopping {
            signal(&inner, Signal::SIGINT);
        }
    }

    pub(crate) fn postmaster(&self) -> Option<Pid> {
        self.lock().postmaster
    }

    /// Tells the thread to stop and our child to shut down; `how` is SIGINT (roll back, write out,
    /// end), SIGQUIT (end at once, recover at the next start) or SIGKILL.
    pub(crate) fn stop(&self, how: Signal) {
        let mut inner = self.lock();
        inner.stopping = true;
        signal(&inner, how);
        self.wake.notify_all();
    }

    pub(crate) fn set_health(&self, health: Health) {
        self.health.send_if_modified(|now| std::mem::replace(now, health) != health);
    }

    pub(crate) fn health(&self) -> watch::Receiver<Health> {
        self.health.subscribe()
    }

    pub(crate) fn finish(&self) {
        self.lock().finished = true;
        self.wake.notify_all();
        self.health.send_replace(Health::Stopped);
    }

    /// Waits until the thread has ended its work; false when `limit` passed before.
    pub(crate) fn wait_finished(&self, limit: Duration) -> bool {
        let waited = self.wake.wait_timeout_while(self.lock(), limit, |inner| !inner.finished);
        waited.unwrap_or_else(PoisonError::into_inner).0.finished
    }
}

/// Sent under the lock: the child is not reaped before its number is withdrawn, so this never hits
/// a stranger.
fn signal(inner: &Inner, how: Signal) {
    if let Some(pid) = inner.postmaster
        && let Err(error) = kill(pid, how)
    {
        tracing::debug!(%error, %pid, "the postmaster is gone already");
    }
}
