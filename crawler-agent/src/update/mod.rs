//! Updates: the agent replaces its program by one that the operator has signed.
//!
//! - [`programs`]: the programs in the data directory, and what is known of them
//! - [`origin`]: which of them a start runs, and how a process starts again
//! - [`download`]: a program arrives, and is checked
//! - [`examination`]: it says which version it is, before it is used
//! - [`error`]: why a release is not used; [`UpdateStatus`]: what the status shows
//!
//! The installed program stays as it is, and is what a service manager starts. It runs the program
//! in the data directory in its place, as the same process. A new one is on trial: where three
//! starts end without an answer of the coordinator and a minute of work, the former one runs again.
//! Nothing that the coordinator sends is run: only what the release key in the owner's
//! configuration has signed.

pub mod download;
pub mod error;
pub mod examination;
pub mod origin;
pub mod programs;

use jiff::Timestamp;
use semver::Version;
use serde::{Deserialize, Serialize};

pub use error::UpdateError;
pub use origin::Origin;
pub use programs::Programs;

/// Processor of this machine, as releases name it.
pub const TARGET: &str = std::env::consts::ARCH;

/// The last outcome, for the owner.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UpdateStatus {
    /// When it was found.
    pub at: Timestamp,
    /// Keyword for programs.
    pub outcome: String,
    /// The same for people.
    pub text: String,
}

/// Version of this program.
pub fn own_version() -> Version {
    // Cargo accepts no other; a program without a version would be replaced by every release.
    Version::parse(env!("CARGO_PKG_VERSION")).unwrap_or(Version::new(0, 0, 0))
}
