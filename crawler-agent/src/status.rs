//! How is the agent doing? A small file in the data directory, written by the running agent and
//! read by `nearcrawl-agent status`.

use std::{fmt, path::Path};

use jiff::Timestamp;
use model::AgentId;
use serde::{Deserialize, Serialize};

const FILE: &str = "status.json";

/// A running agent writes every second; after this long it is not running.
const STALE_SECONDS: i64 = 15;

/// What the agent says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatusFile {
    /// When this was true.
    pub at: Timestamp,
    /// Its process.
    pub pid: u32,
    /// Who it is.
    pub agent: AgentId,
    /// The name that the owner gave it.
    pub name: String,
    /// Whom it works for.
    pub coordinator: String,
    /// Its version.
    pub version: String,
    /// Whether it is crawling.
    pub working: bool,
    /// Why not, in a word for programs.
    pub idle: Option<String>,
    /// Why not, in a sentence.
    pub idle_reason: Option<String>,
    /// Why the coordinator could not be reached last time.
    pub unreachable: Option<String>,
    /// Hosts that it crawls.
    pub hosts: u64,
    /// URLs that wait.
    pub queued: u64,
    /// Fetches that are going on.
    pub in_flight: u64,
    /// Fetches that ended.
    pub fetched: u64,
    /// Bytes of bodies on the wire.
    pub wire_bytes: u64,
    /// Results that wait to be packed.
    pub unpacked: u64,
    /// Packages that wait to be acknowledged.
    pub unshipped: u64,
}

impl StatusFile {
    /// Writes the file in `dir`, whole.
    pub fn write(&self, dir: &Path) -> std::io::Result<()> {
        let temporary = dir.join("status.tmp");
        std::fs::write(&temporary, serde_json::to_vec_pretty(self)?)?;
        std::fs::rename(temporary, dir.join(FILE))
    }

    /// The file in `dir`; none when no agent has ever run there.
    pub fn read(dir: &Path) -> std::io::Result<Option<Self>> {
        match std::fs::read(dir.join(FILE)) {
            Ok(json) => Ok(Some(serde_json::from_slice(&json)?)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Whether the agent that wrote this still runs.
    pub fn is_running(&self, now: Timestamp) -> bool {
        let age = now.as_second() - self.at.as_second();
        age.abs() <= STALE_SECONDS && Path::new(&format!("/proc/{}", self.pid)).exists()
    }

    /// The status as a person reads it.
    pub fn describe(&self, now: Timestamp) -> String {
        Description { status: self, running: self.is_running(now) }.to_string()
    }
}

struct Description<'a> {
    status: &'a StatusFile,
    running: bool,
}

impl fmt::Display for Description<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let s = self.status;
        writeln!(f, "{} ({}), version {}, for {}", s.name, s.agent, s.version, s.coordinator)?;
        match (self.running, &s.idle_reason) {
            (false, _) => writeln!(f, "not running; last seen {:.0}", s.at)?,
            (true, Some(reason)) => writeln!(f, "not crawling: {reason}")?,
            (true, None) => writeln!(f, "crawling")?,
        }
        if let Some(why) = s.unreachable.as_ref().filter(|_| self.running) {
            writeln!(f, "coordinator: {why}; trying again")?;
        }
        writeln!(
            f,
            "hosts {}, URLs waiting {}, fetches going on {}",
            s.hosts, s.queued, s.in_flight
        )?;
        writeln!(f, "fetched {}, {} bytes on the wire", s.fetched, s.wire_bytes)?;
        write!(f, "waiting to be sent: {} packages, {} results", s.unshipped, s.unpacked)
    }
}

#[cfg(test)]
mod tests {
    use jiff::ToSpan as _;
    use tempfile::TempDir;

    use super::*;

    fn status() -> StatusFile {
        StatusFile {
            at: "2026-11-20T12:00:00Z".parse().unwrap(),
            pid: std::process::id(),
            agent: AgentId::new(3),
            name: "cs".into(),
            coordinator: "http://c.example/".into(),
            version: "0.1.0".into(),
            working: true,
            idle: None,
            idle_reason: None,
            unreachable: None,
            hosts: 1,
            queued: 2,
            in_flight: 3,
            fetched: 4,
            wire_bytes: 5,
            unpacked: 6,
            unshipped: 7,
        }
    }

    #[test]
    fn it_goes_to_disk_and_back() {
        let dir = TempDir::new().unwrap();
        assert_eq!(StatusFile::read(dir.path()).unwrap(), None);
        status().write(dir.path()).unwrap();
        assert_eq!(StatusFile::read(dir.path()).unwrap(), Some(status()));
    }

    #[test]
    fn a_person_sees_why_it_is_not_working() {
        let now = status().at + 2.seconds();
        assert!(status().describe(now).contains("\ncrawling\n"));
        let paused = StatusFile { idle_reason: Some("paused by an admin".into()), ..status() };
        assert!(paused.describe(now).contains("not crawling: paused by an admin"));
        assert!(
            paused
                .describe(now + 1.hours())
                .contains("not running; last seen 2026-11-20T12:00:00Z")
        );
        assert!(StatusFile { pid: u32::MAX, ..status() }.describe(now).contains("not running"));
        let away =
            StatusFile { unreachable: Some("the coordinator can't be reached".into()), ..status() };
        assert!(away.describe(now).contains("trying again"));
    }
}
