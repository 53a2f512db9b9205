//! The referee: the server of the web, which records every request.
//!
//! It runs in a process of its own, so that its work is not counted as a crawler's: [`process`]
//! is the side of the benchmark, [`control`] the side of the server.

pub mod control;
mod hosts;
pub mod process;
mod records;
mod report;
mod request;
mod server;
pub mod spacing;

pub use process::Referee;
pub use report::{Progress, Report};
