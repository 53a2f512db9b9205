//! Why a release is not used.

use std::time::Duration;

use protocol::release::Refusal;
use semver::Version;

use crate::{coordinator_client::CoordinatorError, disk::Shortage, file::FileError};

/// Why the agent does not update itself now.
#[derive(Debug, thiserror::Error)]
pub enum UpdateError {
    /// The coordinator does not answer.
    #[error(transparent)]
    Coordinator(CoordinatorError),
    /// The operator has signed none.
    #[error("the coordinator offers no release")]
    NoRelease,
    /// The release is not for this agent, or not valid.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The owner wants to be told only.
    #[error("version {0} is offered; `mode` in [update] is notify, so that it is not installed")]
    Offered(Version),
    /// The programs are another user's.
    #[error("the directory of programs belongs to another user than the one that runs the agent")]
    OtherUser,
    /// Programs cannot be run in the data directory.
    #[error("no program in the data directory can be run: its file system is mounted noexec")]
    NoExec,
    /// The disk has no room.
    #[error("there is no room for version {version}: {shortage}")]
    Disk {
        /// Version that is offered.
        version: Version,
        /// What would be short.
        shortage: Shortage,
    },
    /// The owner's budget has no room.
    #[error("[budget] has no room now for the {mib} MiB of version {version}")]
    Budget {
        /// Version that is offered.
        version: Version,
        /// Size of the program, rounded up.
        mib: u64,
    },
    /// The owner's rules cut the download off.
    #[error("the download was cut off, because the agent rests now")]
    CutOff,
    /// The program has another size or hash than the release says.
    #[error("the program that was downloaded is not the one in the release: {0}")]
    Content(&'static str),
    /// The program does not work on this machine.
    #[error("the new program does not work here: {0}")]
    Examination(String),
    /// An operation on a file failed.
    #[error(transparent)]
    File(#[from] FileError),
}

impl From<CoordinatorError> for UpdateError {
    fn from(error: CoordinatorError) -> Self {
        match error {
            CoordinatorError::Refused { status: 404, .. } => Self::NoRelease,
            error => Self::Coordinator(error),
        }
    }
}

impl UpdateError {
    /// Keyword for programs.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Coordinator(_) => "unreachable",
            Self::NoRelease => "no_release",
            Self::Refused(refusal) => refusal.as_str(),
            Self::Offered(_) => "offered",
            Self::OtherUser => "other_user",
            Self::NoExec => "noexec",
            Self::Disk { .. } => "disk",
            Self::Budget { .. } => "budget",
            Self::CutOff => "cut_off",
            Self::Content(_) => "content",
            Self::Examination(_) => "examination",
            Self::File(_) => "file",
        }
    }

    /// Whether the owner or the operator has to act.
    pub fn is_failure(&self) -> bool {
        !matches!(
            self,
            Self::NoRelease
                | Self::Offered(_)
                | Self::CutOff
                | Self::Refused(Refusal::NotNewer(_) | Refusal::Share(_))
        )
    }

    /// Least time until the next attempt, where that is not the usual one.
    pub fn retry_after(&self) -> Option<Duration> {
        let soon = Duration::from_mins(10);
        match self {
            Self::Coordinator(error) => Some(error.retry_after().max(soon)),
            Self::CutOff => Some(soon),
            _ => None,
        }
    }
}
