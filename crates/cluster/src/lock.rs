//! Ownership of a data directory by one process, as a lock of the kernel on a file. The kernel
//! releases it when the process ends, also after `kill -9`.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};

use crate::ClusterError;
use crate::layout::Layout;

/// The lock, held until dropped.
#[derive(Debug)]
pub(crate) struct DirectoryLock {
    _file: File,
}

impl DirectoryLock {
    /// Takes the lock, or fails with [`ClusterError::InUse`] when another process holds it.
    pub(crate) fn acquire(layout: &Layout) -> Result<Self, ClusterError> {
        let path = layout.lock_file();
        let mut options = OpenOptions::new();
        // Not truncated: the file may contain the number of the process that holds the lock.
        options.read(true).write(true).create(true).truncate(false);
        let mut file = options.open(&path).map_err(ClusterError::prepare(&path))?;
        match file.try_lock() {
            Ok(()) => {
                write_pid(&mut file).map_err(ClusterError::prepare(&path))?;
                Ok(Self { _file: file })
            }
            Err(TryLockError::WouldBlock) => {
                Err(ClusterError::InUse { path: layout.base().into(), owner: read_pid(&mut file) })
            }
            Err(TryLockError::Error(error)) => Err(ClusterError::prepare(path)(error)),
        }
    }
}

fn write_pid(file: &mut File) -> std::io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    writeln!(file, "{}", std::process::id())
}

/// The number of the owner; `unknown` when it has not written it yet.
fn read_pid(file: &mut File) -> String {
    let mut text = String::new();
    match file.read_to_string(&mut text) {
        Ok(_) if !text.trim().is_empty() => text.trim().to_owned(),
        _ => "unknown".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server_user::ServerUser;

    #[test]
    fn a_second_attempt_learns_the_owner() {
        let dir = tempfile::tempdir().unwrap();
        let layout = Layout::open(dir.path(), &ServerUser::choose(dir.path()).unwrap()).unwrap();
        let first = DirectoryLock::acquire(&layout).unwrap();
        let ClusterError::InUse { owner, .. } = DirectoryLock::acquire(&layout).unwrap_err() else {
            panic!("taken twice")
        };
        assert_eq!(owner, std::process::id().to_string());
        drop(first);
        assert!(DirectoryLock::acquire(&layout).is_ok());
    }
}
