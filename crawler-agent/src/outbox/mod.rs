//! The outbox: packs results, and keeps packages on disk until the coordinator acknowledges them.
//!
//! Order of steps: the file is written under a temporary name, synced, renamed, and the directory
//! synced → one change in the frontier removes the results and records the package → the frontier
//! is synced → the package is sent until it is acknowledged → the frontier forgets it → the file is
//! deleted.
//!
//! A crash between any two steps leaves either the results or the package, never both and never
//! neither: a file that the frontier does not know was never sent, and is deleted at start.
//!
//! [`Bundles`] keeps what is handed over to the next agents of released hosts in the same way.

mod build;
mod bundles;
mod files;
mod pack_trigger;

use std::{collections::HashSet, path::Path, sync::Arc};

use model::AgentId;
use protocol::{key::AgentKey, package::PackageName};
use tokio::sync::{Mutex, Notify, OwnedMutexGuard};
use tokio_util::sync::CancellationToken;

use crate::{
    clock,
    config::ShipRules,
    file::FileError,
    frontier::{Change, Frontier, FrontierError, FrontierHandle, StoredResults},
};
use files::Files;

pub use bundles::Bundles;
pub use pack_trigger::{PackAge, PackTrigger};

/// A failure of the outbox.
#[derive(Debug, thiserror::Error)]
pub enum OutboxError {
    /// The frontier failed.
    #[error(transparent)]
    Frontier(#[from] FrontierError),
    /// An operation on a package's file failed.
    #[error(transparent)]
    File(#[from] FileError),
    /// A single result does not fit into a package, even without its content.
    #[error("a result cannot be packed")]
    Build(#[source] protocol::package::PackageError),
    /// The thread that packs panicked.
    #[error("packing was interrupted")]
    Interrupted,
}

/// Packs results and keeps packages.
pub struct Outbox {
    store: FrontierHandle,
    key: Arc<AgentKey>,
    agent: AgentId,
    rules: ShipRules,
    files: Files,
    /// Held while a package is built and recorded, also by the thread that builds it: that goes on
    /// when its task is cancelled, and must not write the file of the next attempt.
    building: Arc<Mutex<()>>,
}

impl Outbox {
    /// Opens the outbox in the directory `dir`, and deletes files that a crash left behind.
    pub async fn open(
        dir: &Path,
        store: FrontierHandle,
        key: Arc<AgentKey>,
        agent: AgentId,
        rules: ShipRules,
    ) -> Result<Self, OutboxError> {
        let files = Files::open(dir, "ncpk")?;
        let known: HashSet<u64> = store.read(Frontier::packages).await?.into_iter().collect();
        files.keep_only(&known)?;
        Ok(Self { store, key, agent, rules, files, building: Arc::default() })
    }

    /// Packs results whenever `trigger` says so, until `stop`; notifies `sealed` of new packages.
    pub async fn pack_until(
        &self,
        stop: &CancellationToken,
        trigger: &PackTrigger,
        sealed: &Notify,
    ) -> Result<(), OutboxError> {
        let mut age = PackAge::new(self.rules.age);
        loop {
            // Never cancelled half way: the file and the frontier's change belong together.
            if self.seal_all().await? > 0 {
                sealed.notify_one();
            }
            let waiting = trigger.wait(&mut age, self.rules.bytes);
            if stop.run_until_cancelled(waiting).await.is_none() {
                return Ok(());
            }
        }
    }

    /// Packs all results that there are now; returns the number of packages. Results that arrive
    /// meanwhile wait, or a fast crawl would make a package of each few of them.
    pub async fn seal_all(&self) -> Result<u32, OutboxError> {
        let last = self.store.last_result()?;
        let mut sealed = 0;
        while self.seal_one(last).await? {
            sealed += 1;
        }
        Ok(sealed)
    }

    /// Packages that are not acknowledged, oldest first. Their records are durable: if a package
    /// were sent and its record lost, its number would be given to another one.
    pub async fn waiting(&self) -> Result<Vec<PackageName>, OutboxError> {
        let numbers = self.store.read(Frontier::packages).await?;
        self.store.sync().await?;
        Ok(numbers.into_iter().map(|seq| self.name(seq)).collect())
    }

    /// The package as it is sent; none when its file is gone.
    pub fn bytes(&self, name: PackageName) -> Result<Option<Vec<u8>>, OutboxError> {
        Ok(self.files.read(name.seq)?)
    }

    /// Deletes a package that the coordinator has acknowledged.
    pub fn acknowledged(&self, name: PackageName) -> Result<(), OutboxError> {
        // In this order: a file without a record is deleted at start.
        self.store.apply(Change::Shipped { seq: name.seq })?;
        Ok(self.files.delete(name.seq)?)
    }

    /// Moves a package that the coordinator will never take into a directory for the owner.
    pub fn set_aside(&self, name: PackageName) -> Result<(), OutboxError> {
        self.files.set_aside(name.seq)?;
        self.store.apply(Change::Shipped { seq: name.seq })?;
        Ok(())
    }

    fn name(&self, seq: u64) -> PackageName {
        PackageName { agent: self.agent, epoch: self.store.epoch(), seq }
    }

    /// Packs the oldest results, if there is one up to the number `last`.
    async fn seal_one(&self, last: u64) -> Result<bool, OutboxError> {
        let building = Arc::clone(&self.building).lock_owned().await;
        let most = self.rules.bytes;
        let read = move |frontier: &Frontier| {
            Ok((frontier.oldest_results(most)?, frontier.next_package()?))
        };
        let (results, seq) = self.store.read(read).await?;
        if results.first().is_none_or(|(order, _)| *order > last) {
            return Ok(false);
        }
        let (change, _building) = self.build(results, seq, building).await?;
        self.store.apply(change)?;
        Ok(true)
    }

    /// Compresses, signs and writes a package on a thread that may block; returns the change that
    /// records it.
    async fn build(
        &self,
        results: StoredResults,
        seq: u64,
        building: OwnedMutexGuard<()>,
    ) -> Result<(Change, OwnedMutexGuard<()>), OutboxError> {
        let key = Arc::clone(&self.key);
        let name = self.name(seq);
        let files = self.files.clone();
        let created = clock::now();
        let built = tokio::task::spawn_blocking(move || {
            let label = build::Label { name, created, key: &key };
            let (written, through) = build::package(&results, label)?;
            files.write(seq, &written.bytes)?;
            let sealed = Change::Sealed { seq, through, bytes: written.bytes.len() as u64 };
            Ok((sealed, building))
        });
        built.await.map_err(|_| OutboxError::Interrupted)?
    }
}

#[cfg(test)]
mod tests;
