//! Delegation experiment: a stream of new subnets, agents that can measure, one strategy that
//! delegates the subnets, and the true times to judge it by (IPMicra section IV).
//!
//! [`Topology`] is the same in every run (hierarchy, addresses, cities); a [`Scenario`] is one
//! random choice of agents and subnets, with noise on the times; [`replay`] runs a [`Strategy`]
//! over it and gives an [`Outcome`]; [`replay_live`] does the same from a cold start with every
//! probe counted; [`scale`] times the decisions for many hosts.

mod baselines;
mod live;
mod measured_homes;
mod outcome;
mod placement;
mod reviewed_step;
mod scale;
mod scenario;
mod simulated_search;
mod strategy;
mod threshold;
mod topology;

pub use live::{Claims, LiveFigures, LivePoint, LiveStrategy, mean_of_points, replay_live};
pub(crate) use live::{claim, measured_ms};
pub(crate) use measured_homes::MeasuredHomes;
pub use outcome::{Outcome, mean_of};
pub use placement::{PlacedAgent, Placement};
pub(crate) use reviewed_step::{ReviewedSearch, count_judgements};
pub use scale::{Scale, SearchKind, scale};
pub use scenario::{Scenario, ScenarioSettings};
pub(crate) use simulated_search::search_with;
pub use strategy::{Strategy, replay};
pub use topology::{Site, Topology};
