//! Balance: which agent crawls what when not every subnet can have its nearest agent
//! (IPMicra III.F).
//!
//! > Each crawler has a maximum capacity, the size of the assigned web-pages that the crawler has
//! > to check each day. […] All the approaches target in minimizing the global cost, […] the sum of
//! > the time that takes each of the crawler to download the web pages assigned to it. (III.F)
//!
//! In reading order:
//!
//! 1. [`AssignmentProblem`]: agents with capacities, subnets with loads and a cost per agent. Pages
//!    a day are the unit of loads and capacities, milliseconds a day of costs. A cost is measured
//!    or predicted and says so ([`agent_costs`]); an unknown one is never guessed.
//! 2. [`relieve`], the online part: an agent is over its capacity and releases one subnet, by the
//!    paper's rule or a better one.
//! 3. [`optimal`], the periodic part: the cheapest plan. `min_cost_flow` solves the linear program,
//!    `ejection_chains` gives the few split subnets to one agent each.
//! 4. [`rebalance`]: moves from the present plan towards the cheapest one, limited in number, each
//!    worth it.
//!
//! Wanted: no move puts an agent over its capacity; the cheapest plan is within half a percent of
//! the linear program's bound, and equal to it for loads of 1; each [`Move`] says what it cost
//! before and after, and which alternatives were refused and why.

mod agent_costs;
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
pub use capacity::{DailyWork, capacity};
pub use moves::{Alternative, Move, RefusalReason};
pub use optimal::{Optimum, optimal};
pub use problem::{AgentCost, AssignmentProblem, CostSource, InvalidProblem, Plan, Subnet};
pub use rebalance::{Rebalance, RebalanceLimits, rebalance};
pub use relief::relieve;
