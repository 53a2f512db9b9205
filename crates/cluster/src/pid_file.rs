//! `postmaster.pid`: the file in which the server records its process number and its state.

use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use nix::unistd::Pid;

use crate::ClusterError;

const NAME: &str = "postmaster.pid";

/// One reading of `postmaster.pid` (lines as in Postgres' `miscadmin.h`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PidFile {
    /// The postmaster's process number (line 1).
    pub(crate) pid: Pid,
    /// Directory of the socket (line 5); empty until the sockets are open.
    pub(crate) socket_dir: PathBuf,
    /// Whether connections are accepted (line 8 is `ready`).
    pub(crate) ready: bool,
}

impl PidFile {
    /// Reads the file in `data`. `None` when there is none, or when its server has ended without
    /// removing it.
    pub(crate) fn of_running_server(data: &Path) -> Result<Option<Self>, ClusterError> {
        let file = read(data)?.and_then(|text| Self::parse(&text));
        Ok(file.filter(|file| file.is_postmaster_of(data)))
    }

    /// Whether there is a file that names no server of `data`, but would keep one from starting:
    /// it cannot be parsed, as after a crash of the machine, or its number belongs to another
    /// process by now. The file of a dead server does not; Postgres replaces it after its own
    /// checks.
    pub(crate) fn is_misleading(data: &Path) -> Result<bool, ClusterError> {
        let Some(text) = read(data)? else { return Ok(false) };
        Ok(Self::parse(&text).is_none_or(|file| {
            let runs = Path::new(&format!("/proc/{}", file.pid)).exists();
            runs && !file.is_postmaster_of(data)
        }))
    }

    /// Removes the file in `data`.
    pub(crate) fn remove(data: &Path) -> Result<(), ClusterError> {
        let path = data.join(NAME);
        std::fs::remove_file(&path).map_err(ClusterError::prepare(path))
    }

    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines().map(str::trim);
        // The number of a standalone backend is negative.
        let pid = lines.next()?.trim_start_matches('-').parse().ok()?;
        let socket_dir = PathBuf::from(lines.nth(3).unwrap_or_default());
        let ready = lines.nth(2) == Some("ready");
        Some(Self { pid: Pid::from_raw(pid), socket_dir, ready })
    }

    /// Whether the process runs and is not another program that got the same number later. The
    /// working directory of a postmaster is its data directory. A dead process that nobody has
    /// waited for has none.
    fn is_postmaster_of(&self, data: &Path) -> bool {
        let proc = PathBuf::from(format!("/proc/{}", self.pid));
        match std::fs::read_link(proc.join("cwd")) {
            Ok(cwd) => cwd == data,
            // A process may hide its working directory, but not its name and user. The server of
            // this directory has the directory's user.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                let user = |path: &Path| std::fs::metadata(path).map(|meta| meta.uid()).ok();
                user(&proc) == user(data)
                    && std::fs::read_to_string(proc.join("comm"))
                        .is_ok_and(|name| name.starts_with("postgres"))
            }
            Err(_) => false,
        }
    }
}

/// The text of the file in `data`; `None` when there is none.
fn read(data: &Path) -> Result<Option<String>, ClusterError> {
    let path = data.join(NAME);
    match std::fs::read(&path) {
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(ClusterError::prepare(path)(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_eighth_line_says_ready() {
        let full = "4711\n/d/postgres\n1700000000\n5432\n/d/run\n\n  5432001    131\nready   \n";
        let file = PidFile::parse(full).unwrap();
        assert_eq!(file.pid, Pid::from_raw(4711));
        assert_eq!(file.socket_dir, Path::new("/d/run"));
        assert!(file.ready);
        assert!(!PidFile::parse(&full.replace("ready", "starting")).unwrap().ready);
    }

    #[test]
    fn half_a_file_is_a_server_that_is_not_ready() {
        let file = PidFile::parse("4711\n/d/postgres\n").unwrap();
        assert!(!file.ready);
        assert_eq!(PidFile::parse(""), None);
        assert_eq!(PidFile::parse("x\n"), None);
    }

    #[test]
    fn another_process_with_the_number_is_not_the_server() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("postmaster.pid"), format!("{}\n", std::process::id()))
            .unwrap();
        assert_eq!(PidFile::of_running_server(dir.path()).unwrap(), None);
    }

    #[test]
    fn only_files_that_block_a_start_are_misleading() {
        let dir = tempfile::tempdir().unwrap();
        let data = dir.path();
        let misleading = |content: &[u8]| {
            std::fs::write(data.join(NAME), content).unwrap();
            PidFile::is_misleading(data).unwrap()
        };
        assert!(!PidFile::is_misleading(data).unwrap(), "there is none");
        assert!(misleading(b""));
        assert!(misleading(b"\xff\n"));
        assert!(misleading(format!("{}\n", std::process::id()).as_bytes()));
        // No process has a number above the limit of the kernel (2^22).
        assert!(!misleading(b"4194305\n"), "Postgres itself replaces the file of a dead server");
        PidFile::remove(data).unwrap();
        assert!(!data.join(NAME).exists());
    }
}
