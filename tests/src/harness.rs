//! Real programs under test: started, waited for, stopped, killed, and never left behind.
//!
//! The road: a [`RunDirectory`] holds a run's files and goes away with it; [`Program`] finds what cargo has
//! built; a [`Process`] is a running one whose lines can be waited for; [`Coordinator`], [`Agent`]
//! and [`Loader`] know how theirs is called; [`Admin`] is a person at the coordinator's HTTP API;
//! [`until`] waits for a level.
//!
//! The kernel ends every process when ours ends, however it ends. [`RunDirectory`]s are removed by a small
//! shell process that outlives us for a moment.

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
pub use agent::{Agent, AgentPlan};
pub use coordinator::{Coordinator, CoordinatorPlan};
pub use error::HarnessError;
pub use loader::{Loaded, Loader};
pub use process::{Memory, Process};
pub use program::Program;
pub use run_directory::RunDirectory;
pub use waiting::until;
