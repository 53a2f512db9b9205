//! The predictive strategy: it asks the agent that is most likely to be nearest and stops when no
//! other agent is likely enough to be nearer.
//!
//! The paper's search (IPMicra III.E) stops at a fixed threshold, which costs accuracy as agents
//! are added: of a hundred agents the first one under 50 ms is rarely the nearest. Here every agent
//! probes the same few hundred *landmarks* now and then. In reading order:
//!
//! 1. [`landmarks`]: choice and replacement of the landmark subnets.
//! 2. [`Clusters`]: landmarks with similar times from all agents form one cluster, represented by
//!    the mean of their times.
//! 3. [`Prior`]: how often subnets of a registry, country and company turned out to be at each
//!    cluster. A subnet may also be at none of them: the background cluster.
//! 4. [`Posterior`]: the prior of a subnet, updated by each probe of its search.
//! 5. [`next_step`]: the search, with the same patience and the same trail as the paper's.
//! 6. [`detect_anycast`] and [`virtual_subnets`]: subnets that are in more than one location.
//!
//! The model of a round trip from agent *a* to a subnet at cluster *c*: `time(c, a) × route +
//! access`. The route deviates by about an eighth (lognormal); the access time is the subnet's own
//! and the same from every agent.
//!
//! Wanted: all probes count, those of landmarks included; with twelve agents at least 95 % of the
//! subnets go to the nearest agent at about two probes each; a step is computed from the trail
//! alone, so that a restart loses nothing.

mod access_time;
mod anycast;
mod background;
mod cluster_spread;
mod cluster_times;
mod clustering;
mod clusters;
pub mod landmarks;
mod next_step;
mod posterior;
mod prior;
mod ranking;
pub mod virtual_subnets;

pub use anycast::detect_anycast;
pub use clusters::{Cluster, Clusters, Landmark};
pub use next_step::{MIN_PROBABILITY, Predictor, next_step};
pub use posterior::Posterior;
pub use prior::Prior;

/// Standard deviation of a route around the time of its cluster, as a share of the time.
const ROUTE_SIGMA: f64 = 0.125;
/// Standard deviation of one probe, as a share of the round trip.
const PROBE_SIGMA: f64 = 0.03;
/// Mean and standard deviation of what a subnet adds to the time of the network in front of it, in
/// milliseconds.
const ACCESS_MS: f64 = 5.0;

/// Standard deviation, in milliseconds, of a route that takes `time_ms` with the usual access time.
fn route_deviation_ms(time_ms: f64) -> f64 {
    ROUTE_SIGMA * (time_ms - ACCESS_MS).max(1.0)
}
