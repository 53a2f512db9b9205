//! Here is a subnet: who shall crawl it.
//!
//! The road through this crate, in reading order:
//!
//! 1. [`Book`]: who holds what. It answers at once which agents hold subnets of a company, directly
//!    below a subnet, or anywhere inside it, because it keeps those crowds counted as delegations
//!    come and go.
//! 2. [`candidates`]: in which order the paper asks the agents (IPMicra III.E).
//! 3. [`next_step`]: the search itself. Its whole state is the trail of probes asked so far, so
//!    that a restart goes on where it stopped: the next step is computed anew from the trail each
//!    time.
//! 4. [`predict`]: a better order, for agents that probe landmarks now and then.
//! 5. [`home`]: the subnet that an agent gets at approval (IPMicra III.D).
//! 6. [`balance`]: when not everybody can have the nearest agent (IPMicra III.F).
//! 7. [`calibration`]: noticing that pages answer slower than they used to (IPMicra III.F).
//! 8. [`budget`]: how many probes a day; [`target`]: which address a probe goes to.
//! 9. [`steering`]: what admins decided beforehand; [`skipped`]: whom a search passed over.
//! 10. [`audit`]: what in the book makes no sense.
//!
//! Everything is a function of its arguments: no clock, no chance, no I/O.

pub mod audit;
pub mod balance;
mod book;
pub mod budget;
pub mod calibration;
mod candidates;
mod crowd;
mod home;
pub mod predict;
mod roster;
mod search;
mod skipped;
pub mod steering;
pub mod target;
mod trail;

pub use book::{Book, Holding};
pub use candidates::{Candidate, Phase, candidates};
pub use crowd::Crowd;
pub use home::{Home, home};
pub use roster::{Availability, Roster};
pub use search::{Policy, Reason, Search, Step, next_step};
pub use skipped::{Skip, skipped};
pub use steering::Steering;
pub use trail::{Asked, Verdict};
