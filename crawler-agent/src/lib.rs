//! Lives at a partner: probe, fetch, extract, ship.

pub mod config;
pub mod crawl_url;
pub mod extract;
pub mod frontier;
pub mod guard;
pub mod robots;
pub mod spans;
