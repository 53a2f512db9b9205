//! Agents that forge their round trips, and how soon the plausibility checks find them.
//!
//! [`Forgery`] is what a liar reports; [`run`] replays searches with one liar among honest agents
//! through the code that the coordinator runs, and gives a [`ForgeryOutcome`].

mod forged_times;
mod outcome;
mod run;

pub use forged_times::{Forgery, Irregularity};
pub use outcome::ForgeryOutcome;
pub use run::{ForgerySettings, run};
