//! Delegation: which agent crawls which subnet.
//!
//! In reading order:
//!
//! 1. [`DelegationTable`]: the agent of each subnet. It counts the agents of a company, of the
//!    children of a subnet, and of everything below it, because the search asks for those.
//! 2. [`candidates`]: the order in which the paper asks the agents (IPMicra III.E).
//! 3. [`next_step`]: the search. Its whole state is the trail of its probes, so that a restart goes
//!    on where it stopped: each step is computed again from the trail.
//! 4. [`places`]: a better order, learned from the trails. [`virtual_subnets`]: subnets whose
//!    addresses are in several places.
//! 5. [`home`]: the subnet that an agent gets at approval (IPMicra III.D).
//! 6. [`balance`]: when not every subnet can have its nearest agent (IPMicra III.F).
//! 7. [`calibration`]: noticing that pages answer more slowly than before (IPMicra III.F).
//! 8. [`budget`]: probes a day; [`target`]: the address that probes go to.
//! 9. [`constraints`]: pins and exclusions by admins; [`skipped`]: agents that a search skipped.
//! 10. [`plausibility`]: whether an agent can be as near as it reports. [`home_measurements`]: what
//!     agents measure of each other.
//! 11. [`successors`]: which agents take over the subnets of an agent that leaves.
//! 12. [`audit`]: mistakes in the stored delegations.
//! 13. [`address_map`]: the delegated addresses, for a map of the IPv4 space. [`holder_search`]:
//!     delegated subnets by company and country.
//!
//! Everything is a function of its arguments: no clock, no random numbers, no input or output.

pub mod address_map;
mod agent_counts;
pub mod audit;
mod available_agents;
pub mod balance;
pub mod budget;
pub mod calibration;
mod candidates;
pub mod constraints;
mod delegation_table;
pub mod holder_search;
mod home;
pub mod home_measurements;
mod normal;
pub mod places;
pub mod plausibility;
mod search;
mod skipped;
pub mod successors;
pub mod target;
mod trail;
pub mod virtual_subnets;

pub use agent_counts::AgentCounts;
pub use available_agents::{Availability, AvailableAgents};
pub use candidates::{Candidate, candidates};
pub use constraints::Constraints;
pub use delegation_table::{Delegation, DelegationTable};
pub use home::{Home, home};
pub use search::{LONGEST_SILENCE_MS, Search, Step, next_step};
pub use skipped::skipped;
pub use trail::{ProbeOutcome, TrailProbe};
