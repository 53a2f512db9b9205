//! Supervisor thread: starts the server, restarts it when it ends, and stops it on request.
//!
//! The kernel ties the "parent died" signal to the *thread* that forked (`PR_SET_PDEATHSIG`), so
//! the server is started from a thread that lives as long as the server.

use std::convert::Infallible;
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tokio::sync::oneshot;
use tracing::{debug, error, info, warn};

use crate::layout::Layout;
use crate::lock::DirectoryLock;
use crate::pid_file::PidFile;
use crate::server_user::ServerUser;
use crate::{ClusterError, Options, PORT, orphans, postmaster};

/// Limit for the start of a server, and for the end of the server of a previous owner.
pub(crate) const START_LIMIT: Duration = Duration::from_mins(1);
/// Limit for replaying the write-ahead log after a crash.
const RECOVERY_LIMIT: Duration = Duration::from_mins(10);
/// Time that the children of a dead postmaster have to end by themselves.
const ORPHANS_LIMIT: Duration = Duration::from_secs(1);
/// Interval between two looks at a process.
const POLL: Duration = Duration::from_millis(50);
/// Longest pause between two attempts to restart the server.
const BACK_OFF_LIMIT: Duration = Duration::from_secs(10);
/// Ways to shut down, gentlest first, and the time each gets: "fast" rolls back and writes
/// everything out, "immediate" ends at once and recovers at the next start.
const SHUTDOWN: [(Signal, Duration); 2] =
    [(Signal::SIGINT, Duration::from_secs(20)), (Signal::SIGQUIT, Duration::from_secs(5))];

/// What the thread needs to start and restart the server.
#[derive(Debug)]
pub(crate) struct Supervisor {
    pub(crate) options: Options,
    pub(crate) user: ServerUser,
    pub(crate) layout: Layout,
    /// Held until the server has ended.
    #[expect(dead_code, reason = "the lock is released when the supervisor is dropped")]
    pub(crate) lock: DirectoryLock,
    /// Disconnected when the server is to be stopped; nothing is ever sent.
    pub(crate) stop: Receiver<Infallible>,
}

/// Outcome of one attempt to start the server.
enum Attempt {
    Ready(Child),
    /// Waiting may help; the error is returned when it did not.
    Retry(ClusterError),
}

impl Supervisor {
    /// Reports the socket directory or the reason why there is no server, then supervises the
    /// server until [`Self::stop`] is disconnected.
    pub(crate) fn run(self, started: oneshot::Sender<Result<PathBuf, ClusterError>>) {
        let first = self.layout.socket_dir(&self.user).and_then(|dir| Ok((self.start()?, dir)));
        // The receiver is gone when the caller gave up. `stop` is disconnected then, too.
        let mut server = match first {
            Ok((server, socket_dir)) => {
                drop(started.send(Ok(socket_dir)));
                server
            }
            Err(error) => {
                // The lock first: the caller may try again at once.
                drop(self);
                return drop(started.send(Err(error)));
            }
        };
        while let Some(status) = self.wait_for_end(&mut server) {
            warn!(%status, "postgres ended; starting it again");
            match self.restart() {
                Some(next) => server = next,
                None => return,
            }
            info!(data = %self.layout.data().display(), "postgres runs again");
        }
        stop_server(&mut server);
    }

    /// Waits until the server ends; `None` when it is to be stopped.
    fn wait_for_end(&self, server: &mut Child) -> Option<ExitStatus> {
        while !self.stop_requested_within(POLL) {
            match server.try_wait() {
                Ok(None) => {}
                Ok(Some(status)) => return Some(status),
                Err(error) => debug!(%error, "cannot ask for the state of postgres"),
            }
        }
        None
    }

    /// Starts the server again, with growing pauses; `None` when a stop was requested meanwhile.
    fn restart(&self) -> Option<Child> {
        let mut pause = POLL;
        loop {
            match self.start() {
                Ok(server) => return Some(server),
                Err(ClusterError::Stopped { .. }) => return None,
                Err(error) => error!(%error, retry_in = ?pause, "cannot start postgres again"),
            }
            if self.stop_requested_within(pause) {
                return None;
            }
            pause = (pause * 2).min(BACK_OFF_LIMIT);
        }
    }

    /// Starts the server and waits until it accepts connections.
    fn start(&self) -> Result<Child, ClusterError> {
        let begun = Instant::now();
        loop {
            let obstacle = match self.attempt()? {
                Attempt::Ready(server) => return Ok(server),
                Attempt::Retry(error) => error,
            };
            if begun.elapsed() > START_LIMIT {
                return Err(obstacle);
            }
            if matches!(obstacle, ClusterError::Start { .. }) && begun.elapsed() > ORPHANS_LIMIT {
                self.kill_orphans();
            }
            if self.stop_requested_within(POLL) {
                return Err(self.stopped());
            }
        }
    }

    fn attempt(&self) -> Result<Attempt, ClusterError> {
        let data = self.layout.data();
        // We hold the lock, so the owner of a running server is dead. The kernel has told that
        // server to shut down. A second postmaster on the same files would destroy them.
        if let Some(server) = PidFile::of_running_server(&data)? {
            return Ok(Attempt::Retry(ClusterError::StillRunning {
                path: data,
                pid: server.pid.as_raw(),
            }));
        }
        remove_misleading_pid_file(&data)?;
        self.remove_socket_lock()?;
        let server = self.spawn()?;
        self.wait_ready(server)
    }

    /// Removes the lock file of the socket. No server of this directory runs, and no other one uses
    /// its socket directory, so the file is a remain. Postgres refuses to start while the number in
    /// it is taken: by another process, or by the dead server that nobody has waited for yet.
    fn remove_socket_lock(&self) -> Result<(), ClusterError> {
        let file = self.layout.socket_dir(&self.user)?.join(format!(".s.PGSQL.{PORT}.lock"));
        match std::fs::remove_file(&file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(ClusterError::prepare(file)(error))
            }
            _ => Ok(()),
        }
    }

    fn spawn(&self) -> Result<Child, ClusterError> {
        let bin = self.options.binaries.for_cluster(&self.layout)?;
        self.user.check_reach(&bin)?;
        if self.layout.version()?.is_none() {
            crate::initdb::initdb(&self.layout, &bin, &self.user, self.options.durability)?;
        }
        let socket_dir = self.layout.socket_dir(&self.user)?;
        let durability = self.options.durability;
        let command = postmaster::command(&self.layout, &bin, &socket_dir, &self.user, durability);
        postmaster::spawn(command, &self.layout)
    }

    fn wait_ready(&self, mut server: Child) -> Result<Attempt, ClusterError> {
        let begun = Instant::now();
        let data = self.layout.data();
        loop {
            let file =
                PidFile::of_running_server(&data)?.filter(|file| file.pid == pid_of(&server));
            if file.as_ref().is_some_and(|file| file.ready) {
                return Ok(Attempt::Ready(server));
            }
            if let Some(status) = server.try_wait().map_err(ClusterError::prepare(&data))? {
                return self.failed_start(status);
            }
            // The pid file appears before recovery, which takes as long as the log is.
            let limit = if file.is_some() { RECOVERY_LIMIT } else { START_LIMIT };
            if begun.elapsed() > limit {
                stop_server(&mut server);
                return Err(ClusterError::Timeout { path: data, seconds: limit.as_secs() });
            }
            if self.stop_requested_within(POLL) {
                stop_server(&mut server);
                return Err(self.stopped());
            }
        }
    }

    /// The server ended before it was ready.
    fn failed_start(&self, status: ExitStatus) -> Result<Attempt, ClusterError> {
        let output = postmaster::last_output(&self.layout);
        let error = ClusterError::Start { path: self.layout.data(), output };
        // A signal came from outside and says nothing about the next attempt. Remains of a dead
        // postmaster disappear, at the latest when they are killed.
        if status.signal().is_some() || postmaster::is_blocked_by_remains(&error) {
            return Ok(Attempt::Retry(error));
        }
        Err(error)
    }

    fn kill_orphans(&self) {
        let count = orphans::kill_all(&self.layout.data());
        if count > 0 {
            warn!(count, "killed processes of a dead postmaster that blocked the start");
        }
    }

    /// Pauses for `time`; true as soon as a stop is requested.
    fn stop_requested_within(&self, time: Duration) -> bool {
        self.stop.recv_timeout(time) == Err(RecvTimeoutError::Disconnected)
    }

    fn stopped(&self) -> ClusterError {
        ClusterError::Stopped { path: self.layout.data() }
    }
}

/// Removes a `postmaster.pid` that would keep the server from starting for good. With the file
/// Postgres loses its check for children of a dead postmaster, so they are killed before.
fn remove_misleading_pid_file(data: &Path) -> Result<(), ClusterError> {
    if !PidFile::is_misleading(data)? {
        return Ok(());
    }
    let begun = Instant::now();
    while orphans::kill_all(data) > 0 && begun.elapsed() < START_LIMIT {
        std::thread::park_timeout(POLL);
    }
    warn!(data = %data.display(), "removing a postmaster.pid that names no server of this data");
    PidFile::remove(data)
}

fn stop_server(server: &mut Child) {
    for (signal, limit) in SHUTDOWN {
        // The child has not been waited for, so its number cannot belong to another process.
        if let Err(error) = kill(pid_of(server), signal) {
            warn!(%error, %signal, "cannot signal postgres");
        }
        if ended_within(server, limit) {
            return;
        }
    }
    if let Err(error) = server.kill().and_then(|()| server.wait()) {
        warn!(%error, "cannot kill postgres");
    }
}

fn ended_within(server: &mut Child, limit: Duration) -> bool {
    let begun = Instant::now();
    while matches!(server.try_wait(), Ok(None)) {
        if begun.elapsed() > limit {
            return false;
        }
        std::thread::park_timeout(POLL);
    }
    true
}

fn pid_of(child: &Child) -> Pid {
    Pid::from_raw(child.id().cast_signed())
}
