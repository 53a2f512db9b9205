//! Whether an agent runs, and as which process.

use std::path::Path;

use nix::unistd::Pid;

use crate::{
    data_dir::control_socket,
    status::{StatusError, StatusFile},
};

/// The process of the running agent. That in the status file may be one that has ended, where the
/// agent could not write the file since its start.
pub(super) fn running_process(dir: &Path, status: &StatusFile) -> anyhow::Result<Option<Pid>> {
    if let Some(pid) = control_socket::listening_process(dir) {
        return Ok(Some(pid));
    }
    let is_renewed = status.is_renewed(jiff::Timestamp::now());
    Ok(if is_renewed { Some(Pid::from_raw(i32::try_from(status.pid)?)) } else { None })
}

/// Whether the agent with this data directory runs. It cannot renew its status on a full disk, but
/// its socket is open.
pub(super) fn is_running(dir: &Path) -> Result<bool, StatusError> {
    let status = StatusFile::read_if_sound(dir)?;
    let is_renewed = status.is_some_and(|status| status.is_renewed(jiff::Timestamp::now()));
    Ok(is_renewed || control_socket::is_open(dir))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Its status is old then, and another process may have the number in it by now.
    #[test]
    fn an_agent_that_cannot_write_its_status_is_found_by_its_socket() {
        let dir = tempfile::tempdir().unwrap();
        let status = serde_json::json!({
            "at": "2020-01-01T00:00:00Z", "pid": 1, "agent": "agt_1", "name": "a",
            "coordinator": "https://c.example", "version": "0.1.0", "working": true, "hosts": 0,
            "queued": 0, "in_flight": 0, "fetched": 0, "wire_bytes": 0, "requests_today": 0,
            "bytes_today": 0, "bytes_this_month": 0, "unpacked": 0, "unshipped": 0,
            "has_package_conflict": false,
        });
        std::fs::write(dir.path().join("status.json"), status.to_string()).unwrap();
        let status = StatusFile::read(dir.path()).unwrap().unwrap();
        assert!(!is_running(dir.path()).unwrap());
        assert_eq!(running_process(dir.path(), &status).unwrap(), None);
        let socket = control_socket::path(dir.path());
        let _listener = std::os::unix::net::UnixListener::bind(socket).unwrap();
        assert!(is_running(dir.path()).unwrap());
        assert_eq!(running_process(dir.path(), &status).unwrap(), Some(Pid::this()));
    }
}
