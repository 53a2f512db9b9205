//! Lists for people: agents, delegations, and the whole trail behind a delegation.
//!
//! Lists run from the newest to the oldest; a part of one is what lies below a number.

mod agents;
mod delegations;
mod trail;

pub use agents::{Agent, agent, agents, names};
pub use delegations::{Delegation, Filter, delegation, delegations};
pub use trail::{Probe, Search, trail};
