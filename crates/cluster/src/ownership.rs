//! One process owns the server of a directory; the kernel's file lock says which, also after `kill
//! -9`.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};

use crate::ClusterError;

/// The lock, held until dropped.
#[derive(Debug)]
pub(crate) struct Ownership {
    _file: File,
}

/// What asking for the lock brought.
#[derive(Debug)]
pub(crate) enum Claim {
    /// It is ours now.
    Ours(Ownership),
    /// The process with this id has it (`unknown` when it has not written it yet).
    Theirs(String),
}

impl Ownership {
    /// Takes the lock if nobody has it.
    pub(crate) fn claim(path: &Path) -> Result<Claim, ClusterError> {
        let failed = || ClusterError::prepare(PathBuf::from(path));
        let mut options = OpenOptions::new();
        let mut file = options
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .map_err(failed())?;
        match file.try_lock() {
            Ok(()) => {
                sign(&mut file).map_err(failed())?;
                Ok(Claim::Ours(Self { _file: file }))
            }
            Err(TryLockError::WouldBlock) => Ok(Claim::Theirs(signature(&mut file))),
            Err(TryLockError::Error(error)) => Err(failed()(error)),
        }
    }
}

fn sign(file: &mut File) -> std::io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    writeln!(file, "{}", std::process::id())
}

fn signature(file: &mut File) -> String {
    let mut text = String::new();
    match file.read_to_string(&mut text) {
        Ok(_) if !text.trim().is_empty() => text.trim().to_owned(),
        _ => "unknown".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_claim_learns_who_has_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        let Claim::Ours(first) = Ownership::claim(&path).unwrap() else {
            panic!("nobody has it yet")
        };
        let Claim::Theirs(owner) = Ownership::claim(&path).unwrap() else { panic!("taken twice") };
        assert_eq!(owner, std::process::id().to_string());
        drop(first);
        assert!(matches!(Ownership::claim(&path).unwrap(), Claim::Ours(_)));
    }
}
