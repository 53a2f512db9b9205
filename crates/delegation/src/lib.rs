//! Here is a subnet: who shall crawl it.
//!
//! The road through this crate, in reading order:
//!
//! 1. [`DelegationTable`]: who holds what. It answers at once which agents hold subnets of a company, directly
//!    below a subnet, or anywhere inside it, because it keeps those crowds counted as delegations
//!    come and go.
//! 2. [`candidates`]: in which order the paper asks the agents (IPMicra III.E).
//! 3. [`next_step`]: the search itself. Its whole state is the trail of probes asked so far, so
//!    that a restart goes on where it stopped: the next step is computed anew from the trail each
//!    time.
//! 4. [`predictor`]: a better order, for agents that probe landmarks now and then.
//! 5. [`home`]: the subnet that an agent gets at approval (IPMicra III.D).
//! 6. [`balance`]: when not everybody can have the nearest agent (IPMicra III.F).
//! 7. [`calibration`]: noticing that pages answer slower than they used to (IPMicra III.F).
//! 8. [`budget`]: how many probes a day; [`target`]: which address a probe goes to.
//! 9. [`constraints`]: what admins decided beforehand; [`skipped`]: whom a search passed over.
//! 10. [`audit`]: what in the delegation table makes no sense.
//!
//! Everything is a function of its arguments: no clock, no chance, no I/O.

mod agent_counts;
pub mod audit;
mod available_agents;
pub mod balance;
pub mod budget;
pub mod calibration;
mod candidates;
pub mod constraints;
mod delegation_table;
mod home;
pub mod predictor;
mod search;
mod skipped;
pub mod target;
mod trail;

pub use agent_counts::AgentCounts;
pub use available_agents::{Availability, AvailableAgents};
pub use candidates::{Candidate, candidates};
pub use constraints::Constraints;
pub use delegation_table::{Delegation, DelegationTable};
pub use home::{Home, home};
pub use search::{Policy, Search, Step, next_step};
pub use skipped::skipped;
pub use trail::{ProbeOutcome, TrailProbe};
