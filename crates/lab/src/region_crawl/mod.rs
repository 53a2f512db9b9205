//! Crawls of a link graph by a simulated region (UbiCrawler section 5).
//!
//! Every agent is a [`region::Member`] in mode `available`, the paper's, with an engine that
//! fetches several hosts at a time, each breadth-first. Messages arrive in the next step. Agents
//! crash in the course of the crawl and return later.

mod agent;
mod crawl;
mod graph;
mod quality;
mod roster;
mod settings;

pub use crawl::{CrawlOutcome, crawl};
pub use graph::LinkGraph;
pub use quality::Quality;
pub use settings::RegionSettings;
