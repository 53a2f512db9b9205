//! The HTTP API for people and the pages that use it.
//!
//! A request's road: [`problem::speak_in_problems`] names it, the CSRF layer looks where it comes
//! from, [`extract`] turns path, query and body into checked values, [`auth::Admin`] says who asks,
//! a handler reads or changes through `store`, and the answer is one of the [`body`] types.
//! `openapi.json` beside this package is made from the same declarations and held by a test.

pub mod agent;
pub mod agents;
pub mod auth;
pub mod balance;
pub mod body;
pub mod calibrations;
pub mod constraints;
pub mod delegations;
pub mod document;
pub mod events;
mod explain;
pub mod extract;
pub mod findings;
pub mod first_admin;
pub mod ground;
pub mod health;
pub mod hierarchy;
pub mod join_tokens;
pub mod landmarks;
pub mod moment;
pub mod overview;
pub mod page;
pub mod password;
pub mod peer;
pub mod policy;
mod previews;
pub mod problem;
pub mod registry_data;
mod router;
pub mod search;
pub mod seeds;
pub mod session;
pub mod state;
mod store_problem;
pub mod tasks;
pub mod throttle;
pub mod tokens;
pub mod web;
pub mod why;
mod why_by_hand;
mod why_predicted;
mod why_sentence;

pub use router::router;
