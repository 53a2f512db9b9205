//! Results become packages, and packages stay on disk until the coordinator has acknowledged them.
//!
//! Order of events: file written under a temporary name → fsync → rename → fsync of the folder →
//! one change in the frontier that takes the results out and notes the package → sent until
//! acknowledged → forgotten → file deleted. A crash between any two of them leaves either the
//! results or the package, never both and never neither: files that the frontier does not know were
//! never sent, and are deleted at start.

mod build;
mod files;
mod pack_trigger;

use std::{collections::HashSet, path::Path, sync::Arc};

use model::AgentId;
use protocol::{key::AgentKey, package::PackageName};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::{
    clock,
    config::ShipRules,
    frontier::{Batch, Change, Frontier, FrontierError, FrontierHandle},
};
use files::Files;

pub use pack_trigger::PackTrigger;

/// The outbox can't do its work.
#[derive(Debug, thiserror::Error)]
pub enum OutboxError {
    /// The frontier failed.
    #[error(transparent)]
    Frontier(#[from] FrontierError),
    /// A file can't be written, read or deleted.
    #[error("a package's file can't be {attempt}")]
    File {
        /// What was attempted, as a participle.
        attempt: &'static str,
        /// Why not.
        #[source]
        source: std::io::Error,
    },
    /// The results do not fit into a package, however few.
    #[error("a result can't be packed")]
    Build(#[source] protocol::package::PackageError),
    /// The thread that packs is gone.
    #[error("packing was interrupted")]
    Interrupted,
}

/// Packs results.
pub struct Outbox {
    store: FrontierHandle,
    key: Arc<AgentKey>,
    agent: AgentId,
    rules: ShipRules,
    files: Files,
}

impl Outbox {
    /// An outbox whose files are in `dir`. Files that a crash left behind are cleared away.
    pub async fn open(
        dir: &Path,
        store: FrontierHandle,
        key: Arc<AgentKey>,
        agent: AgentId,
        rules: ShipRules,
    ) -> Result<Self, OutboxError> {
        let files = Files::open(dir)?;
        let known: HashSet<u64> = store.read(Frontier::packages).await?.into_iter().collect();
        files.keep_only(&known)?;
        Ok(Self { store, key, agent, rules, files })
    }

    /// Packs results as they come, when the oldest is old enough or there are enough, until `stop`.
    pub async fn pack_until(
        &self,
        stop: &CancellationToken,
        pack_trigger: &PackTrigger,
        sealed: &Notify,
    ) -> Result<(), OutboxError> {
        loop {
            // Never cancelled half way: the file and the change belong together.
            if self.seal_all().await? > 0 {
                sealed.notify_one();
            }
            let waiting = pack_trigger.wait(self.rules.age, self.rules.bytes);
            if stop.run_until_cancelled(waiting).await.is_none() {
                return Ok(());
            }
        }
    }

    /// Packs everything there is. Returns the number of packages.
    pub async fn seal_all(&self) -> Result<u32, OutboxError> {
        let mut sealed = 0;
        while self.seal_one().await? {
            sealed += 1;
        }
        Ok(sealed)
    }

    /// Packages that wait to be acknowledged, oldest first.
    pub async fn waiting(&self) -> Result<Vec<PackageName>, OutboxError> {
        let numbers = self.store.read(Frontier::packages).await?;
        Ok(numbers.into_iter().map(|seq| self.name(seq)).collect())
    }

    /// The package's bytes; none when the file is gone.
    pub fn bytes(&self, name: PackageName) -> Result<Option<Vec<u8>>, OutboxError> {
        self.files.read(name.seq)
    }

    /// The coordinator has it: forget it, then delete it.
    pub async fn acknowledged(&self, name: PackageName) -> Result<(), OutboxError> {
        self.store.apply(Change::Shipped { seq: name.seq }).await?;
        self.files.delete(name.seq)
    }

    /// The coordinator will never take it: keep the file aside for the owner, and go on with the
    /// next.
    pub async fn set_aside(&self, name: PackageName) -> Result<(), OutboxError> {
        self.files.set_aside(name.seq)?;
        self.store.apply(Change::Shipped { seq: name.seq }).await?;
        Ok(())
    }

    fn name(&self, seq: u64) -> PackageName {
        PackageName { agent: self.agent, epoch: self.store.epoch(), seq }
    }

    async fn seal_one(&self) -> Result<bool, OutboxError> {
        let bytes = self.rules.bytes;
        let (batch, seq) = self
            .store
            .read(move |frontier: &Frontier| Ok((frontier.batch(bytes)?, frontier.next_package()?)))
            .await?;
        if batch.entries.is_empty() {
            return Ok(false);
        }
        let built = self.build(batch, seq).await?;
        let change = Change::Sealed { seq, through: built.through, bytes: built.bytes };
        self.store.apply(change).await?;
        Ok(true)
    }

    /// Compresses, signs and writes, on a thread that may block.
    async fn build(&self, batch: Batch, seq: u64) -> Result<Built, OutboxError> {
        let (key, name, files) = (Arc::clone(&self.key), self.name(seq), self.files.clone());
        let created = clock::now();
        let built = tokio::task::spawn_blocking(move || {
            let (written, through) = build::package(&batch.entries, name, created, &key)?;
            files.write(seq, &written.bytes)?;
            Ok(Built { through, bytes: written.bytes.len() as u64 })
        });
        built.await.map_err(|_| OutboxError::Interrupted)?
    }
}

struct Built {
    through: u64,
    bytes: u64,
}

#[cfg(test)]
mod tests;
