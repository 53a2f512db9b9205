//! The demo's world: agents in cities that are far apart, and hundreds of hosts at real addresses
//! of the loaded registry data, with round trips between all of them.
//!
//! [`Geography`] knows the round trips between cities and the city of each address (`candidate`).
//! [`DemoWorld::choose`] picks agents (`spread`) and hosts (`choose`) so that every phase of the
//! paper's search occurs: hosts in an agent's own subnet, in other subnets of its company, in
//! subnets near and far. [`Environment`] opens the world in a virtual internet with its web, name
//! server and referee. Without one, [`DemoWorld::on_loopback`] maps the world to 127.x addresses
//! (`mirror`) and the web server imposes the delays.

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
