//! Decides, receives, indexes, answers.

pub mod agent_api;
pub mod api;
pub mod atlas;
pub mod bodies;
pub mod cli;
pub mod clock;
pub mod config;
pub mod digest;
pub mod dns;
pub mod election;
pub mod events;
pub mod failure;
pub mod link;
pub mod pokes;
pub mod recent;
pub mod reconcile;
pub mod ruling;
pub mod search_walk;
pub mod sowing;
pub mod standing;
pub mod state;
mod store_problem;
pub mod tokens;
pub mod wakes;
