//! Lives at a partner: probe, fetch, extract, ship.

pub mod clock;
pub mod config;
pub mod crawl_url;
pub mod extract;
pub mod fetch;
pub mod frontier;
pub mod guard;
pub mod journal;
pub mod outbox;
pub mod page;
pub mod resolve;
pub mod robots;
pub mod schedule;
pub mod spans;
pub mod visit;
