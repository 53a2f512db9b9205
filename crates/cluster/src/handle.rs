use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use nix::sys::signal::Signal;
use tokio::sync::{oneshot, watch};

use crate::identity::Identity;
use crate::layout::Layout;
use crate::warden::{Health, Shared, Warden};
use crate::{ClusterError, Options};

/// How long a shutdown that writes everything out may take before it is cut short.
const FAST_LIMIT: Duration = Duration::from_secs(20);
/// How long an immediate shutdown may take before the processes are killed.
const IMMEDIATE_LIMIT: Duration = Duration::from_secs(5);

/// A Postgres that answers on a socket, and is started again when it dies.
#[derive(Debug)]
pub struct Cluster {
    socket_dir: PathBuf,
    shared: Arc<Shared>,
}

impl Cluster {
    /// Starts the cluster of `options.data_dir` (made first if there is none), or adopts the one
    /// that another process runs there. Ready when this returns.
    pub async fn start(options: Options) -> Result<Self, ClusterError> {
        let identity = Identity::choose()?;
        let layout = Layout::open(&options.data_dir, &identity)?;
        let shared = Arc::new(Shared::new());
        let (sender, started) = oneshot::channel();
        let path = layout.data();
        let warden =
            Warden { options, identity, layout, shared: Arc::clone(&shared), ownership: None };
        std::thread::Builder::new()
            .name("postgres-warden".to_owned())
            .spawn(move || watch_over(warden, sender))
            .map_err(ClusterError::Thread)?;
        let socket_dir = started.await.map_err(|_| ClusterError::Stopped { path })??;
        Ok(Self { socket_dir, shared })
    }

    /// The directory of the server's socket, as `PgConnectOptions::socket` wants it.
    pub fn socket_dir(&self) -> &Path {
        &self.socket_dir
    }

    /// Whether the server is up; changes when it dies and comes back.
    pub fn health(&self) -> watch::Receiver<Health> {
        self.shared.health()
    }

    /// Process id of the server when it is our own child.
    pub fn postmaster(&self) -> Option<i32> {
        self.shared.postmaster().map(nix::unistd::Pid::as_raw)
    }

    /// Shuts an own server down cleanly (an adopted one stays) and waits for its end.
    pub async fn stop(self) {
        let steps = [(Signal::SIGINT, FAST_LIMIT), (Signal::SIGQUIT, IMMEDIATE_LIMIT)];
        let mut health = self.shared.health();
        for (how, limit) in steps {
            self.shared.stop(how);
            let stopped = health.wait_for(|health| *health == Health::Stopped);
            if tokio::time::timeout(limit, stopped).await.is_ok() {
                return;
            }
        }
        self.shared.stop(Signal::SIGKILL);
    }
}

impl Drop for Cluster {
    /// For the paths that did not call [`Cluster::stop`]: the same, without waiting for ever.
    fn drop(&mut self) {
        self.shared.stop(Signal::SIGINT);
        if !self.shared.wait_finished(IMMEDIATE_LIMIT) {
            self.shared.stop(Signal::SIGQUIT);
        }
    }
}

fn watch_over(mut warden: Warden, started: oneshot::Sender<Result<PathBuf, ClusterError>>) {
    let established =
        warden.establish().and_then(|running| Ok((warden.socket_dir_of(&running)?, running)));
    match established {
        Ok((socket_dir, running)) => {
            // Before anybody may look.
            warden.shared.set_health(Health::Ready);
            if started.send(Ok(socket_dir)).is_err() {
                // Whoever asked has gone away meanwhile.
                warden.shared.stop(Signal::SIGINT);
            }
            warden.keep(running);
        }
        Err(error) => {
            warden.shared.finish();
            // The receiver is gone only when nobody wants to know.
            drop(started.send(Err(error)));
        }
    }
}
