//! The agent at a partner organisation: probes, fetches, extracts and ships.
//!
//! A URL passes through these modules:
//! 1. [`agent`] asks the coordinator through the [`coordinator_client`] and stores the routes of
//!    the answer in the [`frontier`] before it confirms them.
//! 2. The [`schedule`] says which host is due; a [`visit`] makes its next request: for [`robots`]
//!    rules first, then for the page.
//! 3. [`resolve`] finds the host's addresses and the [`guard`] checks them; [`mod@fetch`] connects
//!    to exactly one of those addresses.
//! 4. [`extract`] reads the body as it arrives, and [`page`] decides the outcome. Links to hosts of
//!    the agent go into the frontier, others to the coordinator.
//! 5. The [`outbox`] packs results, signs them with the agent's key, and keeps the packages
//!    until they are acknowledged.
//!
//! Where the owner allows it, the agent shares hosts with other agents of its region ([`peers`]).
//! In addition, [`probe`] measures round trips for the coordinator. Everything happens within the
//! owner's [`config`]: the [`spans`] in which the agent may work, the space on the [`disk`], and
//! the [`activity_log`] of what was done. Where the owner permits it, the program replaces itself
//! by one that the operator has signed ([`update`]). The [`owner`] module has the gate that every
//! request and every read passes.
//!
//! Invariants: nothing here speaks SQL or reads a search index, and no message of the coordinator
//! widens what the owner allows.

pub mod activity_log;
pub mod agent;
pub mod allocator;
pub mod backoff;
pub mod cli;
pub mod clock;
pub mod config;
pub mod coordinator_client;
pub mod data_dir;
pub mod disk;
pub mod elapsed_clock;
pub mod error_line;
pub mod extract;
pub mod fetch;
pub mod file;
pub mod frontier;
pub mod guard;
pub mod guarded_file;
pub mod host_status;
pub mod lease;
pub mod lock;
pub mod metrics;
pub mod outage_detector;
pub mod outbox;
pub mod owner;
pub mod page;
pub mod peers;
pub mod probe;
pub mod resolve;
pub mod robots;
pub mod schedule;
pub mod spans;
pub mod status;
pub mod token_bucket;
pub mod update;
pub mod visit;
