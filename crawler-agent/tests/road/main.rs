//! The whole road over loopback: the real binary between a coordinator and a web that are ours, and
//! keep books.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "this is a test")]

mod coordinator;
mod crash;
mod crawl;
mod dns;
mod doors;
mod hostile;
mod hosts;
mod owner;
mod probes;
mod town;
mod web;
