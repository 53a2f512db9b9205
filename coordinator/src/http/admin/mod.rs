//! Handlers for people who are signed in, one module for each noun of the API.

pub mod accounts;
pub mod agents;
pub mod audit_findings;
pub mod audit_log;
pub mod balance;
mod constraint_preview;
pub mod constraints;
pub mod delegations;
pub mod discovery;
pub mod dto;
pub mod events;
pub mod explanation;
pub mod failed_packages;
pub mod first_admin;
pub mod hierarchy;
pub mod incidents;
pub mod join_tokens;
pub mod landmarks;
pub mod overview;
pub mod password;
pub mod policy;
pub mod registry_data;
mod report_trust;
pub mod seeds;
pub mod session;
pub mod subnet_lookup;
pub mod tasks;
