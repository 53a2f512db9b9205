//! The whole road in one go: registry data to a search result, in a world of our own, with a
//! referee.
//!
//! The road: [`RegistryData`] finds the registries' files; the world is chosen from them and its
//! [`Setup`] opened (namespaces where they can be had, loopback else); a [`Deployment`] of real programs
//! is started on it; [`Watch`] follows the crawl until nothing more happens; [`Numbers`] are
//! gathered from the coordinator, the referee, the matrix and the kernel; [`promises`] says which
//! of them had to be what they are. [`show`] plays it all for a person.

mod deployment;
mod numbers;
mod options;
mod promises;
mod registry_data;
mod report;
mod setup;
mod show;
mod verdict;
mod watch;

#[cfg(test)]
mod tests;

pub use deployment::{CrawlSettings, Deployment};
pub use numbers::{Dealing, Numbers, SearchFound};
pub use options::Options;
pub use promises::{Promise, promises};
pub use registry_data::RegistryData;
pub use setup::{Setup, WorldRequest, geography};
pub use show::show;
pub use verdict::Verdict;
pub use watch::Watch;
