//! The predictive strategy: ask who is likely to be nearest, stop when nobody else is likely to be
//! nearer.
//!
//! The paper stops at a fixed threshold, which costs accuracy as agents are added: with a hundred
//! agents the first one under 50 ms is rarely the nearest. Here every agent probes the same few
//! hundred *landmarks* now and then. The road:
//!
//! 1. [`landmarks`]: which subnets to take as landmarks.
//! 2. [`Places`]: landmarks that look alike from all agents are one place, seen through the mean of
//!    their times.
//! 3. [`Experience`]: how often subnets of this registry, country and company turned out to be at
//!    each place.
//! 4. [`Belief`]: experience is the prior of a new subnet, which may also be at none of these
//!    places; each probe sharpens it.
//! 5. [`next_step`]: the search, with the same patience and the same trail as the paper's.
//! 6. [`whereabouts`]: subnets that are near to many (anycast), and subnets that are not one place.
//!
//! The model of a round trip from agent *a* to a subnet at place *p*: `time(p, a) × route +
//! access`. The route deviates by about an eighth (lognormal); the access time is the subnet's own
//! and the same from everywhere.

mod access;
mod belief;
mod elsewhere;
mod experience;
mod foresight;
mod gap;
mod grouping;
pub mod landmarks;
mod normal;
mod places;
mod rivals;
mod sight;
pub mod whereabouts;

pub use belief::Belief;
pub use experience::Experience;
pub use foresight::{Foresight, Thought, WORTH_ASKING, next_step, next_step_keeping};
pub use places::{Landmark, Place, Places};

/// Standard deviation of a route around the time of its place, as a share of the time.
const ROUTE_SIGMA: f64 = 0.125;
/// Standard deviation of one probe, as a share of the round trip.
const PROBE_SIGMA: f64 = 0.03;
/// What subnets add to the time of the network up to them: usual value and usual deviation, in
/// milliseconds.
const ACCESS_MS: f64 = 5.0;

/// Deviation of a route that takes `time_ms` with the usual access.
fn route_deviation_ms(time_ms: f64) -> f64 {
    ROUTE_SIGMA * (time_ms - ACCESS_MS).max(1.0)
}
