//! The demo: from registry data to a search result, in a test environment with a referee.
//!
//! 1. [`RegistryData`] finds the registries' files.
//! 2. [`Setup`] chooses a world from them and opens its environment: network namespaces where
//!    possible, otherwise loopback addresses.
//! 3. [`Deployment`] starts the real programs in it.
//! 4. [`Watch`] follows the crawl until nothing more happens; with `--region`, [`Outage`] plays a
//!    second act meanwhile.
//! 5. [`Numbers`] come from the coordinator, the referee, the matrix and the kernel.
//! 6. [`promises`] says which of them have to reach a target.
//!
//! [`show`] prints all of it for a person.

mod deployment;
mod numbers;
mod options;
mod outage;
mod promises;
mod region_plan;
mod registry_data;
mod report;
mod setup;
mod show;
mod verdict;
mod watch;

#[cfg(test)]
mod tests;

pub use deployment::{CrawlSettings, Deployment};
pub use numbers::{AssignmentQuality, Numbers, SearchFound};
pub use options::Options;
pub use outage::Outage;
pub use promises::{Promise, promises};
pub use region_plan::{PeerPaths, RegionPlan, RegionTimes};
pub use registry_data::RegistryData;
pub use setup::{Setup, WorldRequest, geography};
pub use show::show;
pub use verdict::Verdict;
pub use watch::Watch;
