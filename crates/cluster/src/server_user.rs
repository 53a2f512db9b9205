//! The user that the server runs as: never root, and able to reach its files.

use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use nix::unistd::{Gid, Uid, User, geteuid};

use crate::ClusterError;
use crate::own_dir::{STICKY, check_own};

/// Users to run Postgres as when started by root, best first. Postgres requires an entry in the
/// user database.
const CANDIDATES: [&str; 3] = ["nearcrawl", "postgres", "nobody"];

/// The user that Postgres runs as.
#[derive(Debug, Clone)]
pub(crate) enum ServerUser {
    /// The user of this process, which is not root.
    Current,
    /// Another user, because this process runs as root.
    Other { name: String, uid: Uid, gid: Gid },
}

impl ServerUser {
    /// The current user. As root the owner of the cluster in `data_dir`, or before there is one the
    /// first of [`CANDIDATES`] that exists.
    pub(crate) fn choose(data_dir: &Path) -> Result<Self, ClusterError> {
        if !geteuid().is_root() {
            return Ok(Self::Current);
        }
        if let Some(owner) = Self::owner_of(data_dir)? {
            return Ok(owner);
        }
        for name in CANDIDATES {
            let found = User::from_name(name)
                .map_err(|source| ClusterError::LookUpUser { name: name.to_owned(), source })?;
            if let Some(User { name, uid, gid, .. }) = found.filter(|user| !user.uid.is_root()) {
                return Ok(Self::Other { name, uid, gid });
            }
        }
        Err(ClusterError::NoUser)
    }

    /// The owner of the cluster in `data_dir`: a better candidate may have got its account since
    /// the cluster was created. None without a cluster, or where root owns it, as after a copy.
    fn owner_of(data_dir: &Path) -> Result<Option<Self>, ClusterError> {
        let data = data_dir.join("postgres");
        let Ok(meta) = std::fs::metadata(&data) else { return Ok(None) };
        let uid = Uid::from_raw(meta.uid());
        if uid.is_root() {
            return Ok(None);
        }
        let found = User::from_uid(uid)
            .map_err(|source| ClusterError::LookUpUser { name: uid.to_string(), source })?;
        match found {
            Some(User { name, gid, .. }) => Ok(Some(Self::Other { name, uid, gid })),
            None => Err(ClusterError::prepare(data)(io::Error::other(format!(
                "it belongs to user {uid}, who has no account here; give it to one that exists \
                 with `chown -R ACCOUNT {}`",
                data_dir.display()
            )))),
        }
    }

    /// The owner of the server's files.
    pub(crate) fn uid(&self) -> Uid {
        match self {
            Self::Current => geteuid(),
            Self::Other { uid, .. } => *uid,
        }
    }

    /// Makes `command` run as this user. `Command::uid` drops the supplementary groups, too.
    pub(crate) fn apply_to(&self, command: &mut Command) {
        if let Self::Other { uid, gid, .. } = self {
            command.uid(uid.as_raw()).gid(gid.as_raw());
        }
    }

    /// Makes this user the owner of `path` itself, not of its contents.
    pub(crate) fn chown(&self, path: &Path) -> Result<(), ClusterError> {
        match self {
            Self::Current => Ok(()),
            Self::Other { uid, gid, .. } => nix::unistd::chown(path, Some(*uid), Some(*gid))
                .map_err(|errno| ClusterError::prepare(path)(errno.into())),
        }
    }

    /// Closes `dir` to everybody but its owner, if that is the caller. Where the server has another
    /// user, that one may traverse it: its group becomes the server's, with the permission `x`
    /// alone. A directory that several users share, like `/tmp`, stays as it is.
    pub(crate) fn close_to_others(&self, dir: &Path) -> Result<(), ClusterError> {
        let meta = std::fs::metadata(dir).map_err(ClusterError::prepare(dir))?;
        if meta.uid() != geteuid().as_raw() || meta.mode() & STICKY != 0 {
            return Ok(());
        }
        check_own(dir).map_err(ClusterError::prepare(dir))?;
        let mode = match self {
            Self::Current => 0o700,
            Self::Other { gid, .. } => {
                nix::unistd::chown(dir, None, Some(*gid))
                    .map_err(|errno| ClusterError::prepare(dir)(errno.into()))?;
                0o710
            }
        };
        let mode = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(dir, mode).map_err(ClusterError::prepare(dir))
    }

    /// Fails when this user may not traverse a directory on the way to `path`. Postgres itself
    /// would only say "permission denied", and for another file.
    pub(crate) fn check_reach(&self, path: &Path) -> Result<(), ClusterError> {
        let Self::Other { name, uid, gid } = self else { return Ok(()) };
        match blocked_at(path, *uid, *gid)? {
            None => Ok(()),
            Some(blocked) => Err(ClusterError::NotReachable {
                user: name.clone(),
                blocked,
                path: path.to_path_buf(),
            }),
        }
    }
}

/// The topmost directory on the way to `path` (itself included) that the user may not traverse.
fn blocked_at(path: &Path, uid: Uid, gid: Gid) -> Result<Option<PathBuf>, ClusterError> {
    let real = path.canonicalize().map_err(ClusterError::prepare(path))?;
    let mut from_root: Vec<&Path> = real.ancestors().collect();
    from_root.reverse();
    for dir in from_root {
        let meta = std::fs::metadata(dir).map_err(ClusterError::prepare(dir))?;
        if !may_traverse(&meta, uid, gid) {
            return Ok(Some(dir.to_path_buf()));
        }
    }
    Ok(None)
}

fn may_traverse(meta: &std::fs::Metadata, uid: Uid, gid: Gid) -> bool {
    // Unix applies exactly one of the three classes: an owner without `x` is refused although
    // others may pass.
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
        let found = blocked_at(&inner, stranger.0, stranger.1).unwrap();
        assert_eq!(found, Some(closed.canonicalize().unwrap()));
        std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(0o711)).unwrap();
        assert_eq!(blocked_at(&inner, stranger.0, stranger.1).unwrap(), None);
    }
}
