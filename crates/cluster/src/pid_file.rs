//! `postmaster.pid`: the file in which the server records its process number and its state.

use std::io;
use std::path::{Path, PathBuf};

use nix::unistd::Pid;

use crate::ClusterError;

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
        let path = data.join("postmaster.pid");
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(ClusterError::prepare(path)(error)),
        };
        Ok(Self::parse(&text).filter(|file| file.is_postmaster_of(data)))
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
            // The process of another user hides its working directory, but not its name.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                std::fs::read_to_string(proc.join("comm"))
                    .is_ok_and(|name| name.starts_with("postgres"))
            }
            Err(_) => false,
        }
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
}
