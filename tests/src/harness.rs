//! Real programs under test: started, waited for, stopped, killed, and never left behind.
//!
//! The road: a [`Room`] holds a run's files and goes away with it; [`Program`] finds what cargo has
//! built; a [`Process`] is a running one whose lines can be waited for; [`Coordinator`], [`Agent`]
//! and [`Loader`] know how theirs is called; [`Admin`] is a person at the coordinator's HTTP API;
//! [`until`] waits for a level.
//!
//! The kernel ends every process when ours ends, however it ends. [`Room`]s are removed by a small
//! shell process that outlives us for a moment.

mod admin;
mod agent;
mod coordinator;
mod error;
mod loader;
mod nursery;
mod patience;
mod process;
mod program;
mod room;

#[cfg(test)]
mod tests;

pub use admin::Admin;
pub use agent::{Agent, AgentPlan};
pub use coordinator::{Coordinator, CoordinatorPlan};
pub use error::HarnessError;
pub use loader::{Loaded, Loader};
pub use patience::until;
pub use process::{Memory, Process};
pub use program::Program;
pub use room::Room;
