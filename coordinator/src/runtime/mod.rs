//! State that the stages share, and the signals between them.

pub mod agent_wakeups;
pub mod clock;
pub mod config;
pub mod counted;
pub mod delegated_hierarchy;
pub mod events;
pub mod failure;
pub mod policy;
pub mod state;
pub mod task_signals;
