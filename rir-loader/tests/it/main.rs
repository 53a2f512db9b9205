//! Reads, refuses, loads and downloads registry files.

#![expect(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

mod arin_xml;
mod command;
mod damaged_delegated;
mod damaged_dumps;
mod delegated_fuzz;
mod fetch;
mod fetch_dumps;
mod fixtures;
mod hierarchy;
mod load;
mod preview;
mod queries;
mod read_files;
mod refused_load;
mod registry_files;
mod samples;
mod server;
mod split;
mod whois;
