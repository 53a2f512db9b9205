//! Decides, receives, indexes, answers.

pub mod api;
pub mod atlas;
pub mod bodies;
pub mod cli;
pub mod clock;
pub mod config;
pub mod dns;
pub mod events;
pub mod failure;
pub mod pokes;
pub mod recent;
pub mod reconcile;
pub mod state;
pub mod tokens;
pub mod wakes;
