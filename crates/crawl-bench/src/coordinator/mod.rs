//! Stands in for the coordinator: it enrols one agent, routes the seeds to it in parts of the
//! shipped sizes, and verifies every package. Nothing is indexed.

mod routes;
mod server;
mod shipped;

pub use server::{Coordinator, TOKEN};
pub use shipped::Shipped;
