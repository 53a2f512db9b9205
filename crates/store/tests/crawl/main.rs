//! The statements of the crawl, against a real database.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test stops at what it did not expect")]

mod activity;
mod agents;
mod audit;
mod checks;
mod constraints;
mod freed_hosts;
mod handovers;
mod hidden_from_search;
mod history;
mod host_list;
mod hosts;
mod incidents;
mod join_requests;
mod loads;
mod locks;
mod lost_hosts;
mod moved_agents;
mod overview;
mod packages;
mod paths;
mod policy;
mod regions;
mod remap;
mod round_trips;
mod routes;
mod searches;
mod silence;
mod silent_hosts;
mod stray_hosts;
mod trust;
mod world;
