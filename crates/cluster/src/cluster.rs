//! Handle of a server that accepts connections.

use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use crate::layout::Layout;
use crate::lock::DirectoryLock;
use crate::pid_file::PidFile;
use crate::server_user::ServerUser;
use crate::supervisor::{START_LIMIT, Supervisor};
use crate::{ClusterError, Options};

/// Interval between two looks at another process's server that is starting.
const JOIN_POLL: Duration = Duration::from_millis(50);

/// A Postgres server that accepts connections on a Unix socket.
///
/// Dropping it stops the server if this process owns it, and blocks until it has ended.
#[derive(Debug)]
pub struct Cluster {
    socket_dir: PathBuf,
    /// None when another process owns the server.
    owned: Option<OwnedServer>,
}

/// The supervisor thread and the channel whose end tells it to stop the server.
#[derive(Debug)]
struct OwnedServer {
    stop: mpsc::Sender<Infallible>,
    thread: JoinHandle<()>,
}

impl Cluster {
    /// Creates the cluster of `options.data_dir` if there is none, starts its server, and restarts
    /// it whenever it ends. Returns when the server accepts connections.
    ///
    /// Fails with [`ClusterError::InUse`] when another process owns the directory.
    pub async fn start(options: Options) -> Result<Self, ClusterError> {
        let user = ServerUser::choose(&options.data_dir)?;
        let layout = Layout::open(&options.data_dir, &user)?;
        let path = layout.data();
        let lock = DirectoryLock::acquire(&layout)?;
        let (stop, stopped) = mpsc::channel();
        let (sender, started) = oneshot::channel();
        let supervisor = Supervisor { options, user, layout, lock, stop: stopped };
        let thread = std::thread::Builder::new()
            .name("postgres-supervisor".to_owned())
            .spawn(move || supervisor.run(sender))
            .map_err(ClusterError::Thread)?;
        // A caller that drops this future drops `stop` with it, which stops the server, too.
        let socket_dir = started.await.map_err(|_| ClusterError::Stopped { path })??;
        Ok(Self { socket_dir, owned: Some(OwnedServer { stop, thread }) })
    }

    /// For commands that may run beside the coordinator: uses the server of the process that owns
    /// the directory, or starts it like [`Cluster::start`] when there is no owner.
    pub async fn start_or_join(options: Options) -> Result<Self, ClusterError> {
        let begun = Instant::now();
        let user = ServerUser::choose(&options.data_dir)?;
        let data = Layout::open(&options.data_dir, &user)?.data();
        loop {
            match Self::start(options.clone()).await {
                Err(ClusterError::InUse { .. }) => {}
                outcome => return outcome,
            }
            let running = PidFile::of_running_server(&data)?.filter(|server| server.ready);
            if let Some(server) = running {
                return Ok(Self { socket_dir: server.socket_dir, owned: None });
            }
            if begun.elapsed() > START_LIMIT {
                return Err(ClusterError::Timeout { path: data, seconds: START_LIMIT.as_secs() });
            }
            tokio::time::sleep(JOIN_POLL).await;
        }
    }

    /// The directory of the server's socket, as `PgConnectOptions::socket` expects it.
    pub fn socket_dir(&self) -> &Path {
        &self.socket_dir
    }

    /// Shuts the server down and waits for its end; the server of another process keeps running.
    pub async fn stop(self) {
        if let Err(error) = tokio::task::spawn_blocking(move || drop(self)).await {
            tracing::warn!(%error, "the thread that stops postgres failed");
        }
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let Some(OwnedServer { stop, thread }) = self.owned.take() else { return };
        drop(stop);
        if thread.join().is_err() {
            tracing::warn!("the supervisor of postgres panicked");
        }
    }
}
