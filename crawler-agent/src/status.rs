//! The status file: written into the data directory by the running agent, read by `nearcrawl-agent
//! status`.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use model::{AgentId, AgentState};
use serde::{Deserialize, Serialize};

use crate::{file::FileError, peers::RegionStatus, update::UpdateStatus};

const FILE: &str = "status.json";

/// Age at which a status is that of an agent that has ended; a running one writes every second.
const STALE_SECONDS: i64 = 15;

/// Text for the owner about a package whose number another one has.
pub const PACKAGE_CONFLICT: &str = "\
     the coordinator has other packages under numbers of this agent: its data directory was copied \
     and another agent works with it, or an older state of it was restored; run one agent only, \
     and after a restore leave and enrol anew";

/// The status file cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum StatusError {
    /// The data directory is closed to the caller.
    #[error("{path} cannot be read: {error}; run this as root, or as the user of the agent")]
    NotPermitted {
        /// The status file.
        path: PathBuf,
        /// Error of the system.
        error: std::io::Error,
    },
    /// Another error of the system, or a content of another program.
    #[error(transparent)]
    File(#[from] FileError),
}

impl StatusError {
    fn at(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |error| match error.kind() {
            std::io::ErrorKind::PermissionDenied => Self::NotPermitted { path, error },
            _ => FileError::at(&path, "read")(error).into(),
        }
    }
}

/// What the coordinator says of the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CoordinatorAnswer {
    /// What its admins decided.
    pub state: AgentState,
    /// When it last answered.
    pub at: Timestamp,
}

impl CoordinatorAnswer {
    /// One line for the owner.
    fn describe(self) -> String {
        let words = match self.state {
            AgentState::Pending => "an admin has not approved the agent yet",
            AgentState::Approved => "the agent is approved",
            AgentState::Paused => "an admin has paused the agent",
            AgentState::Revoked => "an admin has revoked the agent",
        };
        format!("at the coordinator: {words}, as of {:.0}", self.at)
    }
}

/// State of the agent at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatusFile {
    /// Time of writing.
    pub at: Timestamp,
    /// Process identifier of the agent.
    pub pid: u32,
    /// Identifier that the coordinator gave the agent.
    pub agent: AgentId,
    /// Name that the owner gave the agent.
    pub name: String,
    /// URL of the coordinator.
    pub coordinator: String,
    /// Version of the program.
    pub version: String,
    /// Whether the agent is crawling.
    pub working: bool,
    /// Keyword of the reason for not crawling, for programs.
    pub idle: Option<String>,
    /// Reason for not crawling, for people.
    pub idle_reason: Option<String>,
    /// The coordinator's last answer about the agent, also while the agent sleeps; none before the
    /// first.
    pub coordinator_answer: Option<CoordinatorAnswer>,
    /// Fingerprint of the agent's key, which the admin sees as well when approving the agent.
    pub fingerprint: Option<String>,
    /// Error of the last call to the coordinator; none when it succeeded, and while the agent
    /// sleeps.
    pub unreachable: Option<String>,
    /// Hosts that the agent crawls.
    pub hosts: u64,
    /// URLs in queues.
    pub queued: u64,
    /// Fetches that are running.
    pub in_flight: u64,
    /// Fetches that ended since the agent first started.
    pub fetched: u64,
    /// Bytes of bodies on the wire since the agent first started.
    pub wire_bytes: u64,
    /// Requests since midnight in the owner's zone, robots.txt and probes included.
    pub requests_today: u64,
    /// Bytes of requests and answers since then, headers included.
    pub bytes_today: u64,
    pub bytes_this_month: u64,
    /// Results that are not packed yet.
    pub unpacked: u64,
    /// Packages that are not acknowledged yet.
    pub unshipped: u64,
    /// Whether a package was refused since the start because the coordinator has another one under
    /// its number.
    pub has_package_conflict: bool,
    /// The region; none while the agent is in none.
    pub region: Option<RegionStatus>,
    /// The last outcome of updates; none before the first, and where the owner wants none.
    pub update: Option<UpdateStatus>,
}

impl StatusFile {
    /// Replaces the file in `dir`. It need not survive a crash, so it is not synced.
    pub fn write(&self, dir: &Path) -> std::io::Result<()> {
        let temporary = dir.join("status.tmp");
        std::fs::write(&temporary, serde_json::to_vec_pretty(self)?)?;
        std::fs::rename(temporary, dir.join(FILE))
    }

    /// Reads the file in `dir`; none when no agent has ever run there.
    pub fn read(dir: &Path) -> Result<Option<Self>, StatusError> {
        let path = dir.join(FILE);
        match std::fs::read(&path) {
            Ok(json) => {
                let parsed = serde_json::from_slice(&json).map_err(std::io::Error::from);
                Ok(Some(parsed.map_err(FileError::at(&path, "parsed"))?))
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(StatusError::at(&path)(error)),
        }
    }

    /// Whether there is a file in `dir`, so that an agent has run there.
    pub fn exists(dir: &Path) -> Result<bool, StatusError> {
        let path = dir.join(FILE);
        path.try_exists().map_err(StatusError::at(&path))
    }

    /// Like [`Self::read`]; none also where the file cannot be read otherwise, such as after a
    /// power failure. A running agent replaces it within a second.
    pub fn read_if_sound(dir: &Path) -> Result<Option<Self>, StatusError> {
        match Self::read(dir) {
            Err(error @ StatusError::NotPermitted { .. }) => Err(error),
            read => Ok(read.ok().flatten()),
        }
    }

    /// Whether the agent that wrote the file still runs and writes. One that cannot write, such as
    /// on a full disk, is found by its socket only.
    pub fn is_renewed(&self, now: Timestamp) -> bool {
        let age = now.as_second() - self.at.as_second();
        age.abs() <= STALE_SECONDS && Path::new(&format!("/proc/{}", self.pid)).exists()
    }

    /// The status of an agent that runs or does not, in a few lines of text.
    pub fn describe(&self, now: Timestamp, running: bool) -> String {
        let Self { name, agent, version, coordinator, at, .. } = self;
        let mut lines = vec![format!("{name} ({agent}), version {version}, for {coordinator}")];
        lines.push(match &self.idle_reason {
            _ if !running => format!("not running; last seen {at:.0}"),
            Some(reason) => format!("not crawling: {reason}"),
            None => "crawling".to_owned(),
        });
        if running && !self.is_renewed(now) {
            lines.push(format!("all of this is as of {at:.0}: the agent cannot write its status"));
        }
        lines.extend(self.coordinator_answer.map(CoordinatorAnswer::describe));
        if let Some(error) = self.unreachable.as_ref().filter(|_| running) {
            lines.push(format!("coordinator: {error}; trying again"));
        }
        lines.extend(self.fingerprint.iter().map(|text| format!("key fingerprint: {text}")));
        let Self { hosts, queued, in_flight, .. } = self;
        lines.push(format!("hosts {hosts}, URLs waiting {queued}, fetches running {in_flight}"));
        lines.push(format!("fetched {}, {} bytes on the wire", self.fetched, self.wire_bytes));
        lines.push(format!(
            "today {} requests and {}; this month {}",
            self.requests_today,
            mib(self.bytes_today),
            mib(self.bytes_this_month)
        ));
        let Self { unshipped, unpacked, .. } = self;
        lines.push(format!("waiting to be sent: {unshipped} packages, {unpacked} results"));
        if self.has_package_conflict {
            lines.push(PACKAGE_CONFLICT.to_owned());
        }
        lines.extend(self.update.iter().map(|update| format!("updates: {}", update.text)));
        lines.extend(self.region.iter().flat_map(RegionStatus::describe));
        lines.join("\n")
    }
}

fn mib(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20))
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
            coordinator_answer: None,
            fingerprint: None,
            unreachable: None,
            hosts: 1,
            queued: 2,
            in_flight: 3,
            fetched: 4,
            wire_bytes: 5,
            requests_today: 8,
            bytes_today: 3 << 19,
            bytes_this_month: 1 << 30,
            unpacked: 6,
            unshipped: 7,
            has_package_conflict: false,
            region: None,
            update: None,
        }
    }

    #[test]
    fn a_status_survives_writing_and_reading() {
        let dir = TempDir::new().unwrap();
        assert_eq!(StatusFile::read(dir.path()).unwrap(), None);
        status().write(dir.path()).unwrap();
        assert_eq!(StatusFile::read(dir.path()).unwrap(), Some(status()));
    }

    /// The installed program reads what a newer one has written that it runs in its place.
    #[test]
    fn a_status_of_another_version_is_read() {
        let dir = TempDir::new().unwrap();
        let mut json = serde_json::to_value(status()).unwrap();
        let fields = json.as_object_mut().unwrap();
        fields.insert("of a newer version".into(), serde_json::json!({ "x": [1] }));
        // Fields that an older version does not write.
        fields.remove("update");
        fields.remove("region");
        std::fs::write(dir.path().join(FILE), json.to_string()).unwrap();
        assert_eq!(StatusFile::read(dir.path()).unwrap(), Some(status()));
    }

    #[test]
    fn a_closed_directory_is_named_with_the_users_who_may_read_it() {
        let denied = || std::io::Error::from(std::io::ErrorKind::PermissionDenied);
        let error = StatusError::at(Path::new("/var/lib/agent/status.json"))(denied()).to_string();
        assert!(error.contains("/var/lib/agent/status.json"), "{error}");
        assert!(error.contains("run this as root, or as the user of the agent"), "{error}");
        let dir = TempDir::new().unwrap();
        std::fs::write(dir.path().join(FILE), "{").unwrap();
        let error = StatusFile::read(dir.path()).unwrap_err().to_string();
        assert!(error.contains("status.json cannot be parsed"), "{error}");
    }

    #[test]
    fn the_description_says_why_the_agent_is_not_working() {
        let now = status().at + 2.seconds();
        let describe = |status: &StatusFile| status.describe(now, true);
        assert!(describe(&status()).contains("\ncrawling\n"));
        let used = "today 8 requests and 1.5 MiB; this month 1024.0 MiB";
        assert!(describe(&status()).contains(used));
        let paused = StatusFile { idle_reason: Some("paused by an admin".into()), ..status() };
        assert!(describe(&paused).contains("not crawling: paused by an admin"));
        let later = now + 1.hours();
        let ended = paused.describe(later, false);
        assert!(ended.contains("not running; last seen 2026-11-20T12:00:00Z"), "{ended}");
        let unwritten = paused.describe(later, true);
        assert!(unwritten.contains("as of 2026-11-20T12:00:00Z"), "{unwritten}");
        assert!(status().is_renewed(now) && !status().is_renewed(later));
        assert!(!StatusFile { pid: u32::MAX, ..status() }.is_renewed(now));
        let at = status().at;
        let asleep = StatusFile {
            idle_reason: Some("outside the hours".into()),
            coordinator_answer: Some(CoordinatorAnswer { state: AgentState::Pending, at }),
            ..status()
        };
        let truth = "an admin has not approved the agent yet, as of 2026-11-20T12:00:00Z";
        assert!(describe(&asleep).contains(truth), "{}", describe(&asleep));
        let away = StatusFile {
            unreachable: Some("the coordinator cannot be reached".into()),
            ..status()
        };
        assert!(describe(&away).contains("trying again"));
        let outcome = UpdateStatus { at, outcome: "expired".into(), text: "it expired".into() };
        let updating = StatusFile { update: Some(outcome), ..status() };
        assert!(describe(&updating).contains("updates: it expired"));
        let copied = StatusFile { has_package_conflict: true, ..status() };
        assert!(describe(&copied).contains("data directory was copied"));
        assert!(!describe(&status()).contains("copied"));
    }
}
