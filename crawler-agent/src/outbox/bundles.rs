//! Bundles of released hosts, on disk until the coordinator has them.

use std::{
    collections::{BTreeSet, HashSet},
    path::Path,
    sync::Mutex,
};

use tokio::sync::Notify;

use super::files::Files;
use crate::{file::FileError, lock::lock};

/// Bundles by the numbers of the orders that released their hosts.
pub struct Bundles {
    files: Files,
    /// Orders whose bundles are to be sent.
    unsent: Mutex<BTreeSet<u64>>,
    /// Notified when `unsent` has grown.
    grown: Notify,
}

impl Bundles {
    /// Opens the directory `dir`. A bundle whose order is not among the `executed` ones was made
    /// before a crash: its host is not released yet, and it is deleted.
    pub fn open(dir: &Path, executed: &HashSet<u64>) -> Result<Self, FileError> {
        let files = Files::open(dir, "nchb")?;
        files.keep_only(executed)?;
        let unsent = files.numbers()?.into_iter().collect();
        Ok(Self { files, unsent: Mutex::new(unsent), grown: Notify::new() })
    }

    /// Writes a bundle; it survives a power failure when this returns.
    pub async fn write(&self, order: u64, bytes: Vec<u8>) -> Result<(), FileError> {
        let files = self.files.clone();
        let writing = tokio::task::spawn_blocking(move || files.write(order, &bytes)).await;
        writing.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()))
    }

    /// The host of this bundle is released.
    pub fn may_be_sent(&self, order: u64) {
        lock(&self.unsent).insert(order);
        self.grown.notify_one();
    }

    /// Whether the bundle of an order is still to be sent.
    pub fn is_unsent(&self, order: u64) -> bool {
        lock(&self.unsent).contains(&order)
    }

    /// Waits for a bundle that is to be sent, and returns the number of its order.
    pub async fn next(&self) -> u64 {
        loop {
            // Made before the question, so that none in between is missed.
            let grown = self.grown.notified();
            let first = lock(&self.unsent).first().copied();
            if let Some(order) = first {
                return order;
            }
            grown.await;
        }
    }

    /// A bundle; none when its file was deleted by hand.
    pub fn bytes(&self, order: u64) -> Result<Option<Vec<u8>>, FileError> {
        self.files.read(order)
    }

    /// Forgets a bundle that the coordinator has.
    pub fn sent(&self, order: u64) -> Result<(), FileError> {
        self.files.delete(order)?;
        lock(&self.unsent).remove(&order);
        Ok(())
    }

    /// Moves a bundle that the coordinator will never take into a directory for the owner.
    pub fn set_aside(&self, order: u64) -> Result<(), FileError> {
        self.files.set_aside(order)?;
        lock(&self.unsent).remove(&order);
        Ok(())
    }
}
