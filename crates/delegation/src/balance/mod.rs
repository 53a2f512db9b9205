//! Who shall crawl what when not everybody can have the nearest agent (IPMicra III.F).
//!
//! > Each crawler has a maximum capacity, the size of the assigned web-pages that the crawler has
//! > to check each day. […] All the approaches target in minimizing the global cost, […] the sum of
//! > the time that takes each of the crawler to download the web pages assigned to it. (III.F)
//!
//! The road, in reading order:
//!
//! 1. [`Instance`]: agents with capacities, subnets with loads and a cost per agent. Pages a day
//!    are the unit of loads and capacities, milliseconds a day of costs. A cost is measured or
//!    predicted ([`cells`]) and says so; there is no third way.
//! 2. [`relieve`], the online part: an agent is over its capacity, one subnet leaves it, by the
//!    paper's rule or a better one. [`arrivals`] plays it for a whole instance.
//! 3. [`optimal`], the periodic part: the cheapest plan there is. [`Flow`] finds the optimum of the
//!    linear program and follows changes; `polish` makes the few split subnets whole.
//! 4. [`rebalance`]: from the plan as it is to the cheapest one in at most so many moves, each of
//!    them worth it.
//!
//! Each [`Move`] says what it cost before and after, and which alternatives were refused and why.

mod arrivals;
mod capacity;
mod cells;
mod exits;
mod flow;
mod instance;
mod moves;
mod online;
mod optimal;
mod polish;
mod rebalance;
mod ways;

pub use arrivals::{Arrivals, arrivals};
pub use capacity::{Shown, capacity};
pub use cells::{Outlook, cells};
pub use flow::Flow;
pub use instance::{Cell, Instance, InstanceError, Plan, Source, Subnet};
pub use moves::{Move, Refused, Why};
pub use online::{Rule, relieve};
pub use optimal::{Optimum, optimal, whole};
pub use rebalance::{Limits, Rebalance, rebalance, rebalance_towards};
