//! The API for agents and the background tasks behind it, over real sockets and a real database,
//! with scripted agents.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test stops at what it did not expect"
)]

mod agent;
mod enrolment;
mod fair_ingestion;
mod generations;
mod hostile_values;
mod leaving;
mod lost_database;
mod measured_first;
mod moved_agents;
mod names;
mod packages;
mod pipeline;
mod predict;
mod recovery;
mod refresh;
mod regions;
mod restart;
mod resumption;
mod several_places;
mod shared_storage;
mod silent_subnets;
mod slow_pages;
mod slow_paths;
mod standing;
mod two_coordinators;
mod unread_packages;
mod unregistered;
mod world;
