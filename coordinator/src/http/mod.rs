//! The HTTP interface of the coordinator.
//!
//! [`agent`] serves the agents, [`admin`] serves people who are signed in, and [`public`] serves
//! everyone: search, health and the dashboard's files. [`connections`] accepts a connection and
//! closes it when it is idle. A request passes the layers of [`router()`] and [`problem`], then the
//! extractors ([`extract`], [`authentication`]), then one handler. `openapi.json` beside this
//! package is generated from the handlers and held by a test.

pub mod admin;
pub mod agent;
pub mod authentication;
mod client_slots;
mod concurrency_limit;
pub mod connections;
pub mod extract;
pub mod forwarded_for;
pub mod lost_database;
pub mod metrics;
mod network;
mod nul;
pub mod openapi;
pub mod paging;
pub mod problem;
pub mod public;
mod router;
pub mod state;
pub mod throttle;
pub mod timestamp;

pub use router::router;
