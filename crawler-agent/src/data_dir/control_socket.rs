//! The socket in the data directory by which commands ask the running agent.

use std::{
    io::{self, ErrorKind, Read as _, Write as _},
    os::unix::net::UnixStream,
    path::{Path, PathBuf},
    time::Duration,
};

use nix::{
    sys::socket::{getsockopt, sockopt::PeerCredentials},
    unistd::Pid,
};

const FILE: &str = "control.sock";
/// Longest wait for an answer.
const ANSWER: Duration = Duration::from_secs(10);

/// Path of the socket in a data directory.
pub fn path(dir: &Path) -> PathBuf {
    dir.join(FILE)
}

/// Listens at `path`. The data directory is locked by this process, so a socket that is there was
/// left by one that was killed.
pub fn listen(path: &Path) -> io::Result<tokio::net::UnixListener> {
    remove(path);
    tokio::net::UnixListener::bind(path)
}

/// Removes the socket; one that is not there need not be removed.
pub fn remove(path: &Path) {
    drop(std::fs::remove_file(path));
}

/// Whether an agent with this data directory listens.
pub fn is_open(dir: &Path) -> bool {
    UnixStream::connect(path(dir)).is_ok()
}

/// The process that listens at the socket; none where no agent with this data directory runs.
pub fn listening_process(dir: &Path) -> Option<Pid> {
    let stream = UnixStream::connect(path(dir)).ok()?;
    let pid = getsockopt(&stream, PeerCredentials).ok()?.pid();
    // It is 0 where the process is in another container.
    (pid > 0).then(|| Pid::from_raw(pid))
}

/// Asks the agent with this data directory; none when it is not running.
pub fn ask(dir: &Path, question: &str) -> io::Result<Option<Vec<u8>>> {
    let mut stream = match UnixStream::connect(path(dir)) {
        Ok(stream) => stream,
        Err(error)
            if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::ConnectionRefused) =>
        {
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    stream.set_read_timeout(Some(ANSWER))?;
    stream.write_all(format!("{question}\n").as_bytes())?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    Ok(Some(answer))
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use tempfile::TempDir;

    use super::*;

    #[test]
    fn the_process_that_listens_is_known() {
        let dir = TempDir::new().unwrap();
        assert_eq!(listening_process(dir.path()), None);
        let listener = UnixListener::bind(path(dir.path())).unwrap();
        assert_eq!(listening_process(dir.path()), Some(Pid::this()));
        drop(listener);
        assert_eq!(listening_process(dir.path()), None, "a file that was left");
    }
}
