//! Replays of the paper's main experiment: a stream of new subnets, agents that can measure, one
//! strategy that hands the subnets out, and the truth to judge it by (IPMicra section IV).
//!
//! [`Ground`] is what stays the same (hierarchy, addresses, cities); a [`Draw`] is one random
//! choice of agents and subnets with the noise that makes the world honest; [`replay`] runs a
//! [`Plan`] over it and gives an [`Outcome`]; [`scale`] times the decisions for many hosts.

mod draw;
mod ground;
mod outcome;
mod placement;
mod plan;
mod predictive;
mod scale;
mod threshold;
mod unaware;
mod walk;

pub use draw::{Draw, DrawSettings};
pub use ground::{Ground, Site};
pub use outcome::{Outcome, mean_of};
pub use placement::{Crawler, Placement};
pub use plan::{Plan, replay};
pub use scale::{Scale, Searching, scale};
