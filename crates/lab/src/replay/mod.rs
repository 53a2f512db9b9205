//! Delegation experiment: a stream of new subnets, agents that can measure, one strategy that
//! delegates the subnets, and the true times to judge it by (IPMicra section IV).
//!
//! [`Topology`] is the same in every run (hierarchy, addresses, cities); a [`Scenario`] is one
//! random choice of agents and subnets, with noise on the times. [`replay`] runs a [`Strategy`]
//! over it as a coordinator does that starts with nothing: measurements of home addresses and
//! searches follow the coordinator's own rules, and every probe counts. [`ReplayMark`] has the
//! figures after some hundreds, thousands and ten thousands of subnets. [`scale`] times the
//! decisions for many hosts.

mod baselines;
mod budget;
mod measured_homes;
mod paper_searches;
mod place_searches;
mod placement;
mod reviewed_step;
mod scale;
mod scenario;
mod searches;
mod simulated_search;
mod strategy;
mod tally;
mod topology;

pub(crate) use measured_homes::MeasuredHomes;
pub use place_searches::Claims;
pub(crate) use place_searches::{claim, measured_ms};
pub use placement::{PlacedAgent, Placement};
pub(crate) use reviewed_step::{ReviewedSearch, count_judgements};
pub use scale::{Scale, SearchKind, scale};
pub use scenario::{Scenario, ScenarioSettings};
pub(crate) use simulated_search::simulate;
pub use strategy::{Strategy, replay};
pub use tally::{ReplayFigures, ReplayMark};
pub use topology::{Site, Topology};
