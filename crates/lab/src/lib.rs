//! Experiments on latency: round trips between cities, and how good a delegation is on them.
//!
//! A [`World`] is a full matrix of round trips between cities. It comes from measurements
//! ([`World::measured`], [`World::matrix`]) or from geography alone ([`World::geographic`]).
//! [`targets`] reads real addresses with the city of each. [`evaluate`] compares an assignment of
//! hosts to agents with the nearest agents and with a random assignment.
//!
//! One experiment per module: [`replay`] and [`scale`] (delegation), [`compare_rules`] (balance),
//! [`calibration`], [`forgery`] (agents that lie), [`crawl()`] (regions, on a link graph). All
//! random numbers are seeded: the same arguments give the same figures, except for the computing
//! times in [`ElapsedTime`].

mod balance;
mod calibration;
mod city;
mod corrected_cities;
mod evaluation;
mod forgery;
mod geographic;
mod mean;
mod measured;
mod noise;
mod partial_matrix;
mod placed_targets;
mod plain_matrix;
mod region_crawl;
mod replay;
mod stopwatch;
mod world;

pub use balance::{
    GeneratedSettings, OnlineRun, RuleComparison, RuleResult, compare_rules, generate, run_online,
};
pub use calibration::{
    Calibration, Change, FetchTimeSettings, PathTrial, PathTrialSettings, TrialSettings,
    calibration, path_trial,
};
pub use city::{City, CityId};
pub use evaluation::{Evaluation, HostAssignment, TIE_MS, evaluate};
pub use forgery::{Forgery, ForgeryOutcome, ForgerySettings, Irregularity, run as forgery};
pub use mean::mean;
pub use noise::Noise;
pub use partial_matrix::Gaps;
pub use placed_targets::{Target, targets};
pub use region_crawl::{CrawlOutcome, LinkGraph, Quality, RegionSettings, crawl};
pub use replay::{
    Claims, PlacedAgent, Placement, ReplayFigures, ReplayMark, Scale, Scenario, ScenarioSettings,
    SearchKind, Site, Strategy, Topology, replay, scale,
};
pub use stopwatch::ElapsedTime;
pub use world::World;
