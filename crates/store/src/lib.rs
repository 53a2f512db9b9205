//! All SQL of the coordinator and the loader.
//!
//! An [`Address`] names the database; [`open`] connects and applies the migrations in the binary;
//! [`Leadership`] elects one coordinator as the leader; each other module holds the statements of
//! one noun with its row types. "Not found" is `Ok(None)`, never an error.

mod address;
pub mod admins;
pub mod agents;
pub mod audit;
pub mod backlog;
mod columns;
mod commit;
pub mod constraints;
pub mod delegations;
pub mod discovery;
mod error;
pub mod generations;
pub mod handovers;
pub mod history;
pub mod home_times;
pub mod host_tally;
pub mod hosts;
pub mod incidents;
pub mod join_tokens;
pub mod landmarks;
mod leader;
mod line;
mod listen;
pub mod loads;
pub mod moment;
pub mod moves;
mod open;
pub mod overview;
pub mod packages;
pub mod partitions;
pub mod policy;
pub mod probes;
pub mod round_trips;
pub mod routes;
mod scope;
pub mod searches;
pub mod settings;
pub mod subnet_splits;
#[cfg(feature = "testing")]
pub mod testing;
pub mod timing_reports;
pub mod trust;
pub mod unregistered_subnets;
pub mod urls;
mod working_agents;

pub use address::Address;
pub use error::StoreError;
pub use leader::Leadership;
pub use listen::{Listener, notify};
pub use open::{Store, open, open_with};
