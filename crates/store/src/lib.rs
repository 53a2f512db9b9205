//! All SQL of the coordinator and the loader.
//!
//! An [`Address`] names the database; [`open`] connects and applies the migrations in the binary;
//! [`Leadership`] elects one coordinator as the leader; each other module holds the statements of
//! one noun with its row types. "Not found" is `Ok(None)`, never an error.

pub mod activity;
mod address;
pub mod admins;
pub mod agent_countries;
pub mod agents;
pub mod api_tokens;
pub mod audit;
pub mod backlog;
pub mod bounded_count;
mod columns;
mod commit;
pub mod constraints;
pub mod delegations;
pub mod discovery;
pub mod drains;
mod error;
pub mod fetches;
pub mod generations;
mod gift;
pub mod handovers;
pub mod hidden_from_search;
pub mod history;
pub mod home_times;
pub mod host_bundles;
pub mod host_list;
mod host_locks;
pub mod host_tally;
pub mod hosts;
pub mod incidents;
pub mod inspection;
pub mod join_requests;
pub mod join_tokens;
mod leader;
pub mod line;
mod listen;
pub mod loads;
pub mod lost_hosts;
pub mod moment;
pub mod moves;
mod open;
pub mod overview;
pub mod packages;
pub mod page_removals;
pub mod partitions;
pub mod policy;
pub mod probes;
pub mod regions;
pub mod restored;
pub mod round_trips;
pub mod routes;
mod schema;
mod scope;
pub mod searches;
pub mod settings;
mod silence;
pub mod silent_hosts;
pub mod stray_hosts;
pub mod subnet_splits;
pub mod takeovers;
#[cfg(feature = "testing")]
pub mod testing;
pub mod timing_reports;
pub mod trust;
pub mod unregistered_subnets;
pub mod url_questions;
pub mod urls;
mod working_agents;

pub use address::Address;
pub use error::StoreError;
pub use leader::{Candidacy, Election, Leadership, Term};
pub use listen::{Listener, notify};
pub use open::{Server, Store, open, open_as, open_with, server};
pub use schema::SchemaChange;

/// The least major version of Postgres: the migrations use NULLS NOT DISTINCT.
pub const LEAST_MAJOR: u32 = 15;
