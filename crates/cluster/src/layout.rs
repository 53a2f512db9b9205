//! The directories of one cluster, and a socket directory whose path is short enough.

use std::fs::{DirBuilder, Permissions};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::server_user::ServerUser;
use crate::{ClusterError, PORT};

/// Bytes of a Unix socket path that fit in `sockaddr_un` beside the closing zero.
const SOCKET_PATH_LIMIT: usize = 107;

/// Paths of one cluster below its base directory.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    base: PathBuf,
}

impl Layout {
    /// Creates `base` if it is missing, for its owner alone; a server's user of its own may
    /// traverse it. Tightens a directory that is open to others.
    pub(crate) fn open(base: &Path, user: &ServerUser) -> Result<Self, ClusterError> {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(base)
            .map_err(ClusterError::prepare(base))?;
        let base = base.canonicalize().map_err(ClusterError::prepare(base))?;
        user.close_to_others(&base)?;
        user.check_reach(&base)?;
        Ok(Self { base })
    }

    /// The paths below `base`, which is left as it is.
    pub(crate) fn of(base: &Path) -> Self {
        Self { base: base.to_owned() }
    }

    /// The directory that holds everything of the cluster.
    pub(crate) fn base(&self) -> &Path {
        &self.base
    }

    /// What Postgres calls the data directory. A link to it is followed: the working directory of
    /// its server is the real one.
    pub(crate) fn data(&self) -> PathBuf {
        let data = self.base.join("postgres");
        data.canonicalize().unwrap_or(data)
    }

    /// Where `initdb` works before the result is renamed to [`Self::data`].
    pub(crate) fn unfinished(&self) -> PathBuf {
        self.base.join("postgres.unfinished")
    }

    /// The file whose lock the owner of the server holds.
    pub(crate) fn lock_file(&self) -> PathBuf {
        self.base.join("postgres.lock")
    }

    /// The server's output until it has opened its own log.
    pub(crate) fn start_log(&self) -> PathBuf {
        self.base.join("postgres.start.log")
    }

    /// Major version that wrote the data; `None` before the first start.
    pub(crate) fn version(&self) -> Result<Option<String>, ClusterError> {
        let path = self.data().join("PG_VERSION");
        match std::fs::read_to_string(&path) {
            Ok(text) => Ok(Some(text.trim().to_owned())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(ClusterError::prepare(path)(error)),
        }
    }

    /// Creates the directory of the socket, private to the server's user: `run/` beside the data,
    /// or a short path elsewhere when the socket's name would be too long.
    pub(crate) fn socket_dir(&self, user: &ServerUser) -> Result<PathBuf, ClusterError> {
        let usual = self.base.join("run");
        let dir = if fits(&usual) { usual } else { self.short_socket_dir(user) };
        private_dir(&dir, user)?;
        Ok(dir)
    }

    /// `/run/nearcrawl-…` for root, else `/tmp/nearcrawl-…`. The name depends on `base` alone, so
    /// that every process finds the same socket.
    fn short_socket_dir(&self, user: &ServerUser) -> PathBuf {
        let mut hasher = DefaultHasher::new();
        self.base.hash(&mut hasher);
        let name = format!("nearcrawl-{}-{:016x}", user.uid(), hasher.finish());
        let parent = if matches!(user, ServerUser::Other { .. }) { "/run" } else { "/tmp" };
        Path::new(parent).join(name)
    }
}

/// Whether the socket's name is short enough, and Postgres reads the path as one directory (it
/// splits at commas).
fn fits(dir: &Path) -> bool {
    let socket = dir.join(format!(".s.PGSQL.{PORT}"));
    let bytes = socket.as_os_str().as_bytes();
    bytes.len() <= SOCKET_PATH_LIMIT
        && !bytes.iter().any(|byte| matches!(byte, b',' | b'"' | b'\''))
}

/// Creates `dir` with mode 0700 for the server's user. Refuses a directory of another user: in
/// `/tmp` anybody could have created it beforehand.
pub(crate) fn private_dir(dir: &Path, user: &ServerUser) -> Result<(), ClusterError> {
    match DirBuilder::new().mode(0o700).create(dir) {
        Ok(()) => user.chown(dir),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => check_private(dir, user),
        Err(error) => Err(ClusterError::prepare(dir)(error)),
    }
}

fn check_private(dir: &Path, user: &ServerUser) -> Result<(), ClusterError> {
    let meta = std::fs::symlink_metadata(dir).map_err(ClusterError::prepare(dir))?;
    let ours = meta.uid() == user.uid().as_raw() || meta.uid() == nix::unistd::geteuid().as_raw();
    if !meta.is_dir() || !ours {
        let foreign = io::Error::new(io::ErrorKind::AlreadyExists, "it belongs to another user");
        return Err(ClusterError::prepare(dir)(foreign));
    }
    std::fs::set_permissions(dir, Permissions::from_mode(0o700))
        .map_err(ClusterError::prepare(dir))?;
    user.chown(dir)
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

    #[test]
    fn an_open_data_directory_is_closed_to_others() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::set_permissions(dir.path(), Permissions::from_mode(0o755)).unwrap();
        let user = ServerUser::choose(dir.path()).unwrap();
        Layout::open(dir.path(), &user).unwrap();
        let mode = std::fs::metadata(dir.path()).unwrap().mode() & 0o777;
        let traversed = matches!(user, ServerUser::Other { .. });
        assert_eq!(mode, if traversed { 0o710 } else { 0o700 });
    }
}
