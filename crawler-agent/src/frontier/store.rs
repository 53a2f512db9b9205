//! The durable half of the frontier: state, log and file behind one lock.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard},
    time::{Duration, Instant},
};

use model::CrawlUrl;

use super::{
    Change, Counts, Effect, FrontierError, HostBundle, HostNumber, HostSnapshot,
    disk::Disk,
    log::{self, Log},
    state::{Host, State},
};
use crate::{guarded_file::FileError as _, lock::lock};

/// Results with their numbers, each as [`protocol::package::encode_entry`] writes it.
pub type StoredResults = Vec<(u64, Arc<[u8]>)>;

/// Most entries of one package, far below the bound of the protocol.
const MAX_ENTRIES: usize = 20_000;
/// Length of the log at which a checkpoint is made, in bytes.
const LONG_LOG: u64 = 16 << 20;
/// Age of the log at which a checkpoint is made, so that hosts which are not used any more can be
/// dropped from memory and the log is short at the next start.
const OLD_LOG: Duration = Duration::from_mins(1);

/// What to do with a log of which a part cannot be read that was synced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DamagedLog {
    /// Refuse it by its name.
    Refuse,
    /// Apply the changes before that part.
    ReadStart,
}

/// Name of the file in its directory.
pub(super) const FILE: &str = "hosts.redb";

/// The durable half of the frontier, in one directory.
pub struct Frontier {
    dir: PathBuf,
    pub(super) disk: Disk,
    epoch: u64,
    working: Mutex<StateAndLog>,
    /// Held while files are synced. A caller that finds nothing to sync waits here for the sync
    /// that is running.
    syncing: Mutex<()>,
    /// Held while a checkpoint is made.
    pub(super) checkpointing: Mutex<()>,
}

/// State and log, under one lock that is never held during a sync.
pub(super) struct StateAndLog {
    pub(super) state: State,
    log: Log,
    /// When the log was started.
    since: Instant,
    /// Whether an operation failed, after which state and log may differ.
    is_failed: bool,
}

impl Frontier {
    /// Opens the directory `dir`; makes it, with `new_epoch` as its epoch, where it does not exist.
    pub fn open(dir: &Path, new_epoch: u64) -> Result<Self, FrontierError> {
        Self::open_with(dir, new_epoch, DamagedLog::Refuse)
    }

    /// Refuses a directory whose frontier is open. One that cannot be opened is not.
    pub fn check_unused(dir: &Path) -> Result<(), FrontierError> {
        let file = dir.join(FILE);
        match file.exists().then(|| Disk::open_damaged(&file)) {
            Some(Err(error @ FrontierError::InUse(_))) => Err(error),
            _ => Ok(()),
        }
    }

    /// Like [`Self::open`], and says what to do with a damaged log.
    pub(super) fn open_with(
        dir: &Path,
        new_epoch: u64,
        damaged_log: DamagedLog,
    ) -> Result<Self, FrontierError> {
        crate::file::private_dir(dir).map_err(|error| FrontierError::Directory(error.into()))?;
        let file = dir.join(FILE);
        if !file.exists() && !log::segments(dir)?.is_empty() {
            return Err(FrontierError::Missing(file));
        }
        let (disk, totals) = Disk::open(&file, new_epoch)?;
        let epoch = totals.epoch;
        let mut state = State::load(&disk, totals)?;
        let next = replay(dir, &disk, &mut state, damaged_log)?;
        let log = Log::start(dir, next)?;
        let working = StateAndLog { state, log, since: Instant::now(), is_failed: false };
        let frontier = Self {
            dir: dir.to_owned(),
            disk,
            epoch,
            working: Mutex::new(working),
            syncing: Mutex::default(),
            checkpointing: Mutex::default(),
        };
        frontier.make_checkpoint()?;
        Ok(frontier)
    }

    /// Epoch of this frontier in package names. Another epoch tells the coordinator that the agent
    /// lost its disk and numbers packages from 1 again.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Applies a change, wholly or not at all. It survives the end of the process when this
    /// returns, and a power failure after [`Self::sync`].
    pub fn apply(&self, mut change: Change) -> Result<Effect, FrontierError> {
        let mut working = self.working()?;
        let StateAndLog { state, log, is_failed, .. } = &mut *working;
        // Until the change is applied as a whole, also if this panics.
        *is_failed = true;
        let selected = state.select_links(&self.disk, &mut change);
        let logged = selected.and_then(|()| log.append(&change));
        let applied = logged.and_then(|()| state.apply(&self.disk, &change));
        *is_failed = applied.is_err();
        applied.map_err(|error| self.named(error))
    }

    /// Makes all changes so far durable.
    pub fn sync(&self) -> Result<(), FrontierError> {
        let _one = lock(&self.syncing);
        let files = self.working()?.log.take_unsynced();
        for file in files {
            if let Err(source) = file.sync() {
                self.fail();
                return Err(FrontierError::Log { path: self.dir.clone(), source });
            }
        }
        Ok(())
    }

    /// Whether all changes so far were taken for a sync.
    #[cfg(test)]
    pub(super) fn is_synced(&self) -> bool {
        self.working().unwrap().log.is_synced()
    }

    /// Whether a checkpoint is due. Where none can be, memory is given back without.
    pub fn needs_checkpoint(&self) -> Result<bool, FrontierError> {
        let mut working = self.working()?;
        let StateAndLog { log, since, state, .. } = &mut *working;
        if log.bytes() == 0 {
            // Hosts that were only read need no checkpoint before they are dropped from memory.
            state.hosts().shrink_to_budget();
            return Ok(false);
        }
        let is_due = log.bytes() >= LONG_LOG || since.elapsed() >= OLD_LOG;
        Ok(is_due || state.hosts().is_over_budget())
    }

    /// Whether the log is so long that a checkpoint should not wait for the next second.
    pub fn has_long_log(&self) -> bool {
        self.working().is_ok_and(|working| working.log.bytes() >= LONG_LOG)
    }

    /// Writes all changes of the log to the file and starts a new log. Other tasks continue
    /// meanwhile.
    pub fn checkpoint(&self) -> Result<(), FrontierError> {
        let made = self.make_checkpoint();
        if made.is_err() {
            self.fail();
        }
        made
    }

    fn make_checkpoint(&self) -> Result<(), FrontierError> {
        let _one = lock(&self.checkpointing);
        let checkpoint = {
            let mut working = self.working()?;
            let segment = working.log.rotate()?;
            working.since = Instant::now();
            let checkpoint = working.state.checkpoint(&self.disk, segment);
            checkpoint.map_err(|error| self.named(error))?
        };
        // Until the file has the changes, the former segment is needed.
        self.sync()?;
        self.disk.write(&checkpoint)?;
        self.working()?.state.committed();
        let segments = log::segments(&self.dir)?.into_iter();
        let mut old = segments.filter(|number| *number < checkpoint.totals.segment);
        old.try_for_each(|number| log::delete(&self.dir, number))
    }

    /// State of a host; none when the host is not the agent's.
    pub fn snapshot(&self, host: HostNumber) -> Result<Option<HostSnapshot>, FrontierError> {
        self.working()?.state.snapshot(&self.disk, host).map_err(|error| self.named(error))
    }

    /// The bundle of a host for its next agent; none when the host is not the agent's or has more
    /// URLs than a bundle may have.
    pub fn bundle(&self, host: HostNumber) -> Result<Option<HostBundle>, FrontierError> {
        Ok(self.with_host(host, Host::bundle)?.flatten())
    }

    /// Paths of a host's queue, and of its pages.
    pub fn paths(&self, host: HostNumber) -> Result<(Vec<String>, Vec<String>), FrontierError> {
        Ok(self.with_host(host, Host::paths)?.unwrap_or_default())
    }

    /// Whether [`Self::snapshot`] of this host reads little or nothing from disk.
    pub fn is_in_memory(&self, host: HostNumber) -> Result<bool, FrontierError> {
        Ok(self.working()?.state.hosts().is_in_memory(host))
    }

    /// Whether a URL was ever queued at this agent; reads from disk.
    pub fn is_known(&self, url: &CrawlUrl) -> Result<bool, FrontierError> {
        self.working()?.state.is_known(&self.disk, url).map_err(|error| self.named(error))
    }

    /// Number of the host with this scheme and authority; none when it is not the agent's.
    pub fn host_number(&self, key: &str) -> Result<Option<HostNumber>, FrontierError> {
        Ok(self.working()?.state.hosts().number(key))
    }

    /// The oldest results with their numbers: at least one if there is any, up to about `bytes`.
    pub fn oldest_results(&self, bytes: u64) -> Result<StoredResults, FrontierError> {
        Ok(self.working()?.state.oldest_results(bytes, MAX_ENTRIES))
    }

    /// Number of the last result that is not packed; 0 when there is none.
    pub fn last_result(&self) -> Result<u64, FrontierError> {
        Ok(self.working()?.state.last_result())
    }

    /// Bytes of the results that are not packed.
    pub fn result_bytes(&self) -> Result<usize, FrontierError> {
        Ok(self.working()?.state.result_bytes())
    }

    /// Numbers of the packages that are not acknowledged.
    pub fn packages(&self) -> Result<Vec<u64>, FrontierError> {
        Ok(self.working()?.state.totals().packages.keys().copied().collect())
    }

    pub fn next_package(&self) -> Result<u64, FrontierError> {
        Ok(self.working()?.state.totals().next_package)
    }

    /// Counts for status and heartbeat.
    pub fn counts(&self) -> Result<Counts, FrontierError> {
        Ok(self.working()?.state.counts())
    }

    /// Executed orders whose results are all acknowledged; these are confirmed in heartbeats.
    pub fn orders_done(&self) -> Result<Vec<u64>, FrontierError> {
        Ok(self.working()?.state.orders_done())
    }

    /// All executed orders, confirmed or not.
    pub fn orders_executed(&self) -> Result<Vec<u64>, FrontierError> {
        Ok(self.working()?.state.totals().orders.keys().copied().collect())
    }

    /// Reads a host; none when it is not the agent's.
    fn with_host<T>(
        &self,
        host: HostNumber,
        read: impl FnOnce(&mut Host, &Disk) -> Result<T, FrontierError>,
    ) -> Result<Option<T>, FrontierError> {
        let mut working = self.working()?;
        let found = working.state.hosts().get(&self.disk, host);
        let result = found.and_then(|host| host.map(|host| read(host, &self.disk)).transpose());
        result.map_err(|error| self.named(error))
    }

    pub(super) fn working(&self) -> Result<MutexGuard<'_, StateAndLog>, FrontierError> {
        let working = lock(&self.working);
        if working.is_failed { Err(FrontierError::Closed) } else { Ok(working) }
    }

    /// An error with the name of the file, if it says that the file is damaged.
    pub(super) fn named(&self, error: FrontierError) -> FrontierError {
        error.in_file(&self.dir.join(FILE))
    }

    fn fail(&self) {
        lock(&self.working).is_failed = true;
    }
}

/// Applies the changes of the log since the last checkpoint; returns the number of the next
/// segment.
fn replay(
    dir: &Path,
    disk: &Disk,
    state: &mut State,
    damaged_log: DamagedLog,
) -> Result<u64, FrontierError> {
    let replayed = log::replay(dir, state.totals().segment, |change| {
        let applied = state.apply(disk, change);
        applied.map(drop).map_err(|error| error.in_file(&dir.join(FILE)))
    })?;
    match replayed.cut {
        Some(cut) if cut.was_synced && damaged_log == DamagedLog::Refuse => {
            return Err(cut.damage());
        }
        Some(_) => tracing::warn!(
            next_segment = replayed.next,
            "the log of the frontier is not complete, as after a power failure; the last fetches \
             are repeated"
        ),
        None => {}
    }
    Ok(replayed.next)
}
