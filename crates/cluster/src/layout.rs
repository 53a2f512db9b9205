//! The directories of one cluster, and a socket directory whose path is short enough.

use std::fs::{DirBuilder, Permissions};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::identity::Identity;
use crate::{ClusterError, PORT};

/// Bytes of a Unix socket path that fit in `sockaddr_un` beside the closing zero.
const SOCKET_PATH_LIMIT: usize = 107;

/// Where everything of one cluster lies.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    base: PathBuf,
}

impl Layout {
    /// Makes `base` if it is missing and lets the server's user pass through it.
    pub(crate) fn open(base: &Path, identity: &Identity) -> Result<Self, ClusterError> {
        DirBuilder::new()
            .recursive(true)
            .mode(0o711)
            .create(base)
            .map_err(ClusterError::prepare(base))?;
        let base = base.canonicalize().map_err(ClusterError::prepare(base))?;
        identity.admit(&base)?;
        identity.check_reach(&base)?;
        Ok(Self { base })
    }

    /// What Postgres calls the data directory.
    pub(crate) fn data(&self) -> PathBuf {
        self.base.join("postgres")
    }

    /// Where `initdb` works before the result is renamed to [`Self::data`].
    pub(crate) fn unfinished(&self) -> PathBuf {
        self.base.join("postgres.unfinished")
    }

    /// Held by the process that owns the server.
    pub(crate) fn lock_file(&self) -> PathBuf {
        self.base.join("postgres.lock")
    }

    /// What the server prints before its own log is open.
    pub(crate) fn start_log(&self) -> PathBuf {
        self.base.join("postgres.start.log")
    }

    /// Major version of the data, if there is data.
    pub(crate) fn version(&self) -> Result<Option<String>, ClusterError> {
        let path = self.data().join("PG_VERSION");
        match std::fs::read_to_string(&path) {
            Ok(text) => Ok(Some(text.trim().to_owned())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(ClusterError::prepare(path)(error)),
        }
    }

    /// A directory for the sockets, private to the server's user: `run/` beside the data, else a
    /// short one.
    pub(crate) fn socket_dir(&self, identity: &Identity) -> Result<PathBuf, ClusterError> {
        let usual = self.base.join("run");
        let dir = if fits(&usual) { usual } else { self.short_socket_dir(identity) };
        private_dir(&dir, identity)?;
        Ok(dir)
    }

    /// `/run/nearcrawl-…` for root, else `/tmp/nearcrawl-…`; the same for every process that asks
    /// for `base`.
    fn short_socket_dir(&self, identity: &Identity) -> PathBuf {
        let mut hasher = DefaultHasher::new();
        self.base.hash(&mut hasher);
        let name = format!("nearcrawl-{}-{:016x}", identity.uid(), hasher.finish());
        let place = if matches!(identity, Identity::Dropped { .. }) { "/run" } else { "/tmp" };
        Path::new(place).join(name)
    }
}

/// Whether the sockets' names fit, and Postgres reads the path as one directory (it splits at
/// commas).
fn fits(dir: &Path) -> bool {
    let socket = dir.join(format!(".s.PGSQL.{PORT}"));
    let bytes = socket.as_os_str().as_bytes();
    bytes.len() <= SOCKET_PATH_LIMIT
        && !bytes.iter().any(|byte| matches!(byte, b',' | b'"' | b'\''))
}

/// Makes `dir` with mode 0700 for the server's user; refuses one that somebody else put there.
pub(crate) fn private_dir(dir: &Path, identity: &Identity) -> Result<(), ClusterError> {
    match DirBuilder::new().mode(0o700).create(dir) {
        Ok(()) => identity.own(dir),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => check_private(dir, identity),
        Err(error) => Err(ClusterError::prepare(dir)(error)),
    }
}

fn check_private(dir: &Path, identity: &Identity) -> Result<(), ClusterError> {
    let meta = std::fs::symlink_metadata(dir).map_err(ClusterError::prepare(dir))?;
    let ours =
        meta.uid() == identity.uid().as_raw() || meta.uid() == nix::unistd::geteuid().as_raw();
    if !meta.is_dir() || !ours {
        let taken = io::Error::new(io::ErrorKind::AlreadyExists, "it belongs to another user");
        return Err(ClusterError::prepare(dir)(taken));
    }
    std::fs::set_permissions(dir, Permissions::from_mode(0o700))
        .map_err(ClusterError::prepare(dir))?;
    identity.own(dir)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_path_fits_up_to_107_bytes() {
        let name = format!("/.s.PGSQL.{PORT}");
        let longest = format!("/{}", "a".repeat(SOCKET_PATH_LIMIT - 1 - name.len()));
        assert!(fits(Path::new(&longest)));
        assert!(!fits(Path::new(&format!("{longest}a"))));
        assert!(!fits(Path::new("/a,b")));
    }
}
