//! Harness: starts, waits for, stops and kills the real programs, and leaves none behind.
//!
//! - [`RunDirectory`] holds a run's files and is removed with it.
//! - [`Program`] finds what cargo has built; [`Process`] is a running one whose lines can be
//!   awaited.
//! - [`Coordinator`], [`Agent`] and [`Loader`] know the command lines of the programs.
//! - [`Admin`] is a session at the coordinator's HTTP API.
//! - [`until`] waits for a condition.
//!
//! The kernel ends every process when the test process ends. A small shell process that outlives
//! the test process removes the run directories.

mod admin;
mod agent;
mod coordinator;
mod error;
mod loader;
mod process;
mod program;
mod run_directory;
mod spawner;
mod waiting;

#[cfg(test)]
mod tests;

pub use admin::Admin;
pub use agent::{Agent, AgentPlan, PeerPlan};
pub use coordinator::{Coordinator, CoordinatorPlan};
pub use error::HarnessError;
pub use loader::{Loader, LoaderOutput};
pub use process::Process;
pub use program::Program;
pub use run_directory::RunDirectory;
pub use waiting::until;
