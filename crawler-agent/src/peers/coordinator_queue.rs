//! Envelopes that leave through the coordinator.

use std::{
    collections::VecDeque,
    sync::{Mutex, MutexGuard, PoisonError},
};

use region::envelope::Envelope;
use tokio::sync::Notify;

/// Most envelopes that wait; the oldest are lost.
const ENVELOPES: usize = 4_000;

/// Envelopes that leave through the coordinator.
#[derive(Default)]
pub(super) struct CoordinatorQueue {
    waiting: Mutex<VecDeque<Envelope>>,
    arrived: Notify,
}

impl CoordinatorQueue {
    fn waiting(&self) -> MutexGuard<'_, VecDeque<Envelope>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds an envelope.
    pub(super) fn push(&self, envelope: Envelope) {
        let mut waiting = self.waiting();
        if waiting.len() >= ENVELOPES {
            waiting.pop_front();
        }
        waiting.push_back(envelope);
        drop(waiting);
        self.arrived.notify_one();
    }

    /// The first envelopes of about so many bytes, as soon as there are any.
    pub(super) async fn take(&self, bytes: usize) -> Vec<Envelope> {
        loop {
            let taken = take(&mut self.waiting(), bytes);
            if !taken.is_empty() {
                return taken;
            }
            self.arrived.notified().await;
        }
    }
}

/// The first envelopes, at least one if there is any, of about so many bytes.
fn take(waiting: &mut VecDeque<Envelope>, bytes: usize) -> Vec<Envelope> {
    let mut taken = Vec::new();
    let mut size = 0;
    while size < bytes
        && let Some(envelope) = waiting.pop_front()
    {
        size += envelope.bytes();
        taken.push(envelope);
    }
    taken
}
