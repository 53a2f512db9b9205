//! Background tasks: work of the coordinator that no request asks for.
//!
//! Each task compares the state in the database with the wanted one and does what is missing. It
//! takes no input, may run at any time and any number of times, and continues after a crash where
//! it stopped. [`table`] lists all tasks with the events that wake them; [`driver`] runs them.
//! [`election`] chooses the one coordinator that runs the leader's tasks, [`peer_notifications`]
//! carries wake-ups between coordinators, and [`delegation_sync`] keeps the delegation table in
//! step with theirs.

mod add_up_activity;
mod add_up_counts;
pub mod coordinator;
pub mod delegation_sync;
pub mod driver;
pub mod election;
pub mod metrics;
pub mod peer_notifications;
mod record_uptime;
mod status;
pub mod table;

pub use status::{Status, Statuses};
