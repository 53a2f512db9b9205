//! The demo's world: who is where. Agents in well-spread cities, and hundreds of hosts at real
//! addresses of the loaded registry data, with round trips between all of them.
//!
//! The road: an [`Geography`] knows the round trips between cities and which addresses lie in which
//! city (`candidate`); [`DemoWorld::choose`] picks agents (`spread`) and hosts (`choose`) so that
//! every phase of the paper's search has work: hosts in an agent's own subnet, in other subnets of
//! its company, in subnets near and far. Where a virtual internet can be had, [`Environment`] opens it
//! with the world's web, name server and referee inside; else [`DemoWorld::on_loopback`] moves the
//! same world to 127.x addresses (`mirror`) and the environment imposes the delays.

mod candidate;
mod choose;
mod demo;
mod environment;
mod error;
mod geography;
mod mirror;
mod name;
mod place;
mod shortlist;
mod spread;

#[cfg(test)]
mod tests;

pub use choose::Size;
pub use demo::{DemoWorld, NetworkKind, Participant, RegistryRecord, WorldCounts};
pub use environment::{Environment, Node};
pub use error::{EnvironmentError, WorldError};
pub use geography::Geography;
pub use mirror::Mirror;
