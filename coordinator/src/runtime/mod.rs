//! The leaf of the coordinator: state and signals that all stages share.

pub mod agent_programs;
pub mod agent_wakeups;
pub mod back_off;
pub mod clock;
pub mod config;
pub mod constraints;
pub mod coordinator_key;
pub mod delegated_hierarchy;
pub mod elapsed_clock;
pub mod events;
pub mod failure;
pub mod free_space;
pub mod hidden_pages;
pub mod leader;
pub mod lost_database;
pub mod metrics;
pub mod outcome;
pub mod peer_hints;
pub mod policy;
pub mod private_dir;
pub mod quantity;
pub mod region_moves;
pub mod silent_hosts;
pub mod storage_location;
pub mod uptime;
