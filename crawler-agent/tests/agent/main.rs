//! The whole road over loopback: the real binary between a coordinator and a web that are ours, and
//! keep books.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "this is a test")]

mod coordinator;
mod crash;
mod crawl;
mod dns;
mod hostile;
mod hosts;
mod owner;
mod probe_targets;
mod probes;
mod testbed;
mod web;
