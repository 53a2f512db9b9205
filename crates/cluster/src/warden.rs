//! The thread that starts the server, waits for its end and starts it again.
//!
//! It is a thread of its own because the kernel ties the "parent died" signal to the thread that
//! forked.

use std::os::unix::process::ExitStatusExt as _;
use std::process::Child;
use std::sync::Arc;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use nix::sys::wait::{Id, WaitPidFlag, waitid};
use nix::unistd::Pid;
use tracing::{error, info, warn};

use crate::identity::Identity;
use crate::layout::Layout;
use crate::orphans;
use crate::ownership::{Claim, Ownership};
use crate::pidfile::PidFile;
use crate::postmaster;
use crate::{ClusterError, Options, Sharing};

mod shared;
pub use shared::Health;
pub(crate) use shared::Shared;

/// How long the first sign of life may take.
const START_LIMIT: Duration = Duration::from_mins(1);
/// How long replaying the log of a crash may take.
const RECOVERY_LIMIT: Duration = Duration::from_mins(10);
/// How long the postmaster of a dead owner may take to shut down before it counts as somebody
/// else's.
const FOREIGN_AFTER: Duration = Duration::from_secs(15);
/// How long children of a dead postmaster are left alone.
const ORPHANS_AFTER: Duration = Duration::from_secs(1);
/// How long they are asked before they are killed.
const ORPHANS_KILLED_AFTER: Duration = Duration::from_secs(5);
/// Between two looks at the server while it starts.
const STEP: Duration = Duration::from_millis(20);
/// Between two looks at a server that is not our child.
const FOREIGN_STEP: Duration = Duration::from_millis(250);
/// Longest wait between two attempts to bring the server back.
const BACK_OFF_LIMIT: Duration = Duration::from_secs(10);

/// A server that answers.
#[derive(Debug)]
pub(crate) enum Running {
    Own(Child),
    Foreign(PidFile),
}

#[derive(Debug)]
pub(crate) struct Warden {
    pub(crate) options: Options,
    pub(crate) identity: Identity,
    pub(crate) layout: Layout,
    pub(crate) shared: Arc<Shared>,
    pub(crate) ownership: Option<Ownership>,
}

impl Warden {
    /// Tries until there is a server, or a reason why there cannot be one.
    pub(crate) fn establish(&mut self) -> Result<Running, ClusterError> {
        let begun = Instant::now();
        loop {
            match self.attempt(begun) {
                Ok(Some(running)) => return Ok(running),
                Ok(None) if begun.elapsed() < START_LIMIT => {}
                Ok(None) => return Err(self.late(START_LIMIT)),
                Err(error) if postmaster::is_left_over(&error) && begun.elapsed() < START_LIMIT => {
                    self.end_orphans(begun.elapsed());
                }
                Err(_) if self.shared.is_stopping() => return Err(self.stopped()),
                Err(error) => return Err(error),
            }
            if self.shared.pause(STEP) {
                return Err(self.stopped());
            }
        }
    }

    /// One look: `None` means that waiting may help.
    fn attempt(&mut self, begun: Instant) -> Result<Option<Running>, ClusterError> {
        if self.ownership.is_none() {
            match Ownership::claim(&self.layout.lock_file())? {
                Claim::Ours(ownership) => self.ownership = Some(ownership),
                Claim::Theirs(owner) => return self.adopt(owner),
            }
        }
        // We own the directory, yet a server lives: its owner has just died and it is on its way
        // out. One that stays was started by hand and is adopted.
        match PidFile::of_live_server(&self.layout.data())? {
            None => self.launch(),
            Some(live) if live.ready && begun.elapsed() > FOREIGN_AFTER => {
                Ok(Some(Running::Foreign(live)))
            }
            Some(_) => Ok(None),
        }
    }

    /// What a dead postmaster left behind gets some time, then a hint, then no choice.
    fn end_orphans(&self, waited: Duration) {
        let how = match waited {
            _ if waited < ORPHANS_AFTER => return,
            _ if waited < ORPHANS_KILLED_AFTER => Signal::SIGQUIT,
            _ => Signal::SIGKILL,
        };
        let count = orphans::signal(&self.layout.data(), how);
        if count > 0 {
            warn!(count, ?how, "processes of a dead postgres are in the way");
        }
    }

    fn adopt(&self, owner: String) -> Result<Option<Running>, ClusterError> {
        if self.options.sharing == Sharing::Refuse {
            return Err(ClusterError::InUse { path: self.options.data_dir.clone(), owner });
        }
        let live = PidFile::of_live_server(&self.layout.data())?;
        Ok(live.filter(|live| live.ready).map(Running::Foreign))
    }

    /// Starts the server; `None` when somebody killed it before it was ready.
    fn launch(&self) -> Result<Option<Running>, ClusterError> {
        let version = self.layout.version()?;
        let bin = self.options.binaries.find(version.as_deref())?;
        self.identity.check_reach(&bin)?;
        match version {
            None => {
                crate::initdb::initdb(&self.layout, &bin, &self.identity, self.options.durability)?;
            }
            Some(wanted) => self.check_version(wanted, &bin)?,
        }
        let socket_dir = self.layout.socket_dir(&self.identity)?;
        let durability = self.options.durability;
        let command =
            postmaster::command(&self.layout, &bin, &socket_dir, &self.identity, durability);
        let child = postmaster::spawn(command, &self.layout)?;
        self.shared.set_postmaster(Some(pid_of(&child)));
        Ok(self.wait_ready(child)?.map(Running::Own))
    }

    fn check_version(&self, wanted: String, bin: &std::path::Path) -> Result<(), ClusterError> {
        let found = crate::binaries::major_version(bin)?;
        if found == wanted {
            return Ok(());
        }
        Err(ClusterError::OtherVersion {
            data: self.layout.data(),
            wanted,
            binaries: bin.into(),
            found,
        })
    }

    fn wait_ready(&self, mut child: Child) -> Result<Option<Child>, ClusterError> {
        let begun = Instant::now();
        loop {
            let live = PidFile::of_live_server(&self.layout.data())?
                .filter(|live| live.pid == pid_of(&child));
            if live.as_ref().is_some_and(|live| live.ready) {
                return Ok(Some(child));
            }
            let limit = if live.is_some() { RECOVERY_LIMIT } else { START_LIMIT };
            let ended = child.try_wait().map_err(ClusterError::prepare(self.layout.data()))?;
            if ended.is_some() || begun.elapsed() > limit {
                self.give_up(&mut child);
                return match ended {
                    None => Err(self.late(limit)),
                    Some(status) if status.signal().is_some() => Ok(None),
                    Some(_) => Err(self.failed()),
                };
            }
            self.shared.pause(STEP);
        }
    }

    fn give_up(&self, child: &mut Child) {
        self.shared.set_postmaster(None);
        if let Err(error) = child.kill().and_then(|()| child.wait()) {
            warn!(%error, "cannot end the server that did not start");
        }
    }

    /// Holds the watch until told to stop.
    pub(crate) fn keep(mut self, mut running: Running) {
        loop {
            self.shared.set_health(Health::Ready);
            self.wait_for_end(running);
            if self.shared.is_stopping() {
                break;
            }
            self.shared.set_health(Health::Down);
            match self.bring_back() {
                Some(next) => running = next,
                None => break,
            }
            info!(data = %self.layout.data().display(), "postgres is back");
        }
        self.shared.finish();
    }

    fn wait_for_end(&self, running: Running) {
        match running {
            Running::Own(child) => self.wait_for_child(child),
            Running::Foreign(seen) => self.wait_for_foreigner(&seen),
        }
    }

    fn wait_for_child(&self, mut child: Child) {
        // Without reaping: the number stays the child's until nobody can signal it any more.
        let waited = waitid(Id::Pid(pid_of(&child)), WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT);
        self.shared.set_postmaster(None);
        let status = child.wait();
        if !self.shared.is_stopping() {
            warn!(?waited, ?status, "postgres ended; starting it again");
        }
    }

    fn wait_for_foreigner(&self, seen: &PidFile) {
        let data = self.layout.data();
        let there =
            || matches!(PidFile::of_live_server(&data), Ok(Some(live)) if live.pid == seen.pid);
        while !self.shared.pause(FOREIGN_STEP) {
            if !there() {
                warn!(pid = %seen.pid, "the postgres of another process ended; taking over");
                return;
            }
        }
    }

    fn bring_back(&mut self) -> Option<Running> {
        let mut delay = STEP;
        loop {
            match self.establish() {
                Ok(running) => return Some(running),
                Err(ClusterError::Stopped { .. }) => return None,
                Err(error) => error!(%error, retry_in = ?delay, "cannot bring postgres back"),
            }
            if self.shared.pause(delay) {
                return None;
            }
            delay = (delay * 2).min(BACK_OFF_LIMIT);
        }
    }

    /// Where the server's socket is.
    pub(crate) fn socket_dir_of(
        &self,
        running: &Running,
    ) -> Result<std::path::PathBuf, ClusterError> {
        match running {
            Running::Own(_) => self.layout.socket_dir(&self.identity),
            Running::Foreign(live) => Ok(live.socket_dir.clone()),
        }
    }

    fn late(&self, limit: Duration) -> ClusterError {
        ClusterError::Late { path: self.layout.data(), seconds: limit.as_secs() }
    }

    fn stopped(&self) -> ClusterError {
        ClusterError::Stopped { path: self.layout.data() }
    }

    fn failed(&self) -> ClusterError {
        ClusterError::Start { path: self.layout.data(), said: postmaster::last_words(&self.layout) }
    }
}

fn pid_of(child: &Child) -> Pid {
    Pid::from_raw(child.id().cast_signed())
}
