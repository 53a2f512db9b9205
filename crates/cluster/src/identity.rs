//! Who the server runs as: never root, and able to reach its files.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use nix::unistd::{Gid, Uid, User, chown, geteuid};

use crate::ClusterError;

/// Users to run Postgres as when started by root, best first. It insists on an entry in the user
/// database.
const CANDIDATES: [&str; 3] = ["nearcrawl", "postgres", "nobody"];

/// The user Postgres runs as.
#[derive(Debug, Clone)]
pub(crate) enum Identity {
    /// We are an ordinary user: the server is the same one.
    Same,
    /// We are root: the server is somebody else.
    Dropped { name: String, uid: Uid, gid: Gid },
}

impl Identity {
    /// The user for this process.
    pub(crate) fn choose() -> Result<Self, ClusterError> {
        if !geteuid().is_root() {
            return Ok(Self::Same);
        }
        for name in CANDIDATES {
            let found = User::from_name(name)
                .map_err(|source| ClusterError::LookUpUser { name: name.to_owned(), source })?;
            if let Some(User { name, uid, gid, .. }) = found.filter(|user| !user.uid.is_root()) {
                return Ok(Self::Dropped { name, uid, gid });
            }
        }
        Err(ClusterError::NoUser)
    }

    /// The user id files of the server belong to.
    pub(crate) fn uid(&self) -> Uid {
        match self {
            Self::Same => geteuid(),
            Self::Dropped { uid, .. } => *uid,
        }
    }

    /// Makes `command` run as this user; the supplementary groups are dropped with it.
    pub(crate) fn apply(&self, command: &mut Command) {
        if let Self::Dropped { uid, gid, .. } = self {
            command.uid(uid.as_raw()).gid(gid.as_raw());
        }
    }

    /// Hands `path` itself (not what is in it) to this user.
    pub(crate) fn own(&self, path: &Path) -> Result<(), ClusterError> {
        match self {
            Self::Same => Ok(()),
            Self::Dropped { uid, gid, .. } => chown(path, Some(*uid), Some(*gid))
                .map_err(|errno| ClusterError::prepare(path)(errno.into())),
        }
    }

    /// Lets this user pass through our own `dir` (and no one else): its group becomes the server's,
    /// with `x` alone.
    pub(crate) fn admit(&self, dir: &Path) -> Result<(), ClusterError> {
        let Self::Dropped { uid, gid, .. } = self else { return Ok(()) };
        let meta = std::fs::metadata(dir).map_err(ClusterError::prepare(dir))?;
        if may_enter(&meta, *uid, *gid) || meta.uid() != 0 {
            return Ok(());
        }
        chown(dir, None, Some(*gid)).map_err(|errno| ClusterError::prepare(dir)(errno.into()))?;
        let mode = std::fs::Permissions::from_mode(meta.mode() & 0o7707 | 0o010);
        std::fs::set_permissions(dir, mode).map_err(ClusterError::prepare(dir))
    }

    /// Refuses when a directory on the way to `path` shuts this user out. Postgres itself would
    /// only say "permission denied", and for the wrong file.
    pub(crate) fn check_reach(&self, path: &Path) -> Result<(), ClusterError> {
        let Self::Dropped { name, uid, gid } = self else { return Ok(()) };
        match blocked(path, *uid, *gid)? {
            None => Ok(()),
            Some(blocked) => Err(ClusterError::NotReachable {
                user: name.clone(),
                blocked,
                path: path.to_path_buf(),
            }),
        }
    }
}

/// The topmost directory on the way to `path` (itself included) that the user cannot enter.
fn blocked(path: &Path, uid: Uid, gid: Gid) -> Result<Option<PathBuf>, ClusterError> {
    let real = path.canonicalize().map_err(ClusterError::prepare(path))?;
    let mut above: Vec<&Path> = real.ancestors().collect();
    above.reverse();
    for dir in above {
        let meta = std::fs::metadata(dir).map_err(ClusterError::prepare(dir))?;
        if !may_enter(&meta, uid, gid) {
            return Ok(Some(dir.to_path_buf()));
        }
    }
    Ok(None)
}

fn may_enter(meta: &std::fs::Metadata, uid: Uid, gid: Gid) -> bool {
    let bit = match () {
        () if meta.uid() == uid.as_raw() => 0o100,
        () if meta.gid() == gid.as_raw() => 0o010,
        () => 0o001,
    };
    meta.mode() & bit != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_parent_is_named() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
        let closed = dir.path().join("closed");
        let inner = closed.join("inner");
        std::fs::create_dir_all(&inner).unwrap();
        std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(0o700)).unwrap();
        let stranger = (Uid::from_raw(4242), Gid::from_raw(4242));
        let found = blocked(&inner, stranger.0, stranger.1).unwrap();
        assert_eq!(found, Some(closed.canonicalize().unwrap()));
        std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(0o711)).unwrap();
        assert_eq!(blocked(&inner, stranger.0, stranger.1).unwrap(), None);
    }
}
