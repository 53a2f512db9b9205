//! The agent's binary over loopback, between a fake coordinator, a fake name server and fake web
//! servers that record what they see.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "this is a test")]

mod coordinator;
mod crash;
mod crawl;
mod dns;
mod handover;
mod heartbeats;
mod hostile;
mod hosts;
mod impostor;
mod lookups;
mod memory;
mod metrics;
mod outage;
mod owner;
mod probe_manners;
mod probe_targets;
mod probes;
mod proxies;
mod revisits;
mod simulated_time;
mod testbed;
mod tools;
mod updates;
mod web;
