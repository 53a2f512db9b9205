//! Who shall crawl what when not everybody can have the nearest agent (IPMicra III.F).
//!
//! > Each crawler has a maximum capacity, the size of the assigned web-pages that the crawler has
//! > to check each day. […] All the approaches target in minimizing the global cost, […] the sum of
//! > the time that takes each of the crawler to download the web pages assigned to it. (III.F)
//!
//! The road, in reading order:
//!
//! 1. [`AssignmentProblem`]: agents with capacities, subnets with loads and a cost per agent. Pages a day
//!    are the unit of loads and capacities, milliseconds a day of costs. A cost is measured or
//!    predicted ([`costs`]) and says so; there is no third way.
//! 2. [`relieve`], the online part: an agent is over its capacity, one subnet leaves it, by the
//!    paper's rule or a better one. [`arrivals`] plays it for a whole instance.
//! 3. [`optimal`], the periodic part: the cheapest plan there is. [`MinCostFlow`] finds the optimum of the
//!    linear program and follows changes; `polish` makes the few split subnets whole.
//! 4. [`rebalance`]: from the plan as it is to the cheapest one in at most so many moves, each of
//!    them worth it.
//!
//! Each [`Move`] says what it cost before and after, and which alternatives were refused and why.

mod agent_costs;
mod arrivals;
mod capacity;
mod ejection_chains;
mod min_cost_flow;
mod moves;
mod optimal;
mod problem;
mod rebalance;
mod relief;
mod residual_arcs;
mod shortest_paths;

pub use agent_costs::{Expectation, agent_costs};
pub use arrivals::{Arrivals, arrivals};
pub use capacity::{DailyWork, capacity};
pub use min_cost_flow::MinCostFlow;
pub use moves::{Alternative, Move, RefusalReason};
pub use optimal::{Optimum, optimal, whole};
pub use problem::{AgentCost, AssignmentProblem, CostSource, InvalidProblem, Plan, Subnet};
pub use rebalance::{Rebalance, RebalanceLimits, rebalance, rebalance_towards};
pub use relief::relieve;
