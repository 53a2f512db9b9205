//! Startup: command line, configuration, wiring, serving and shutdown.

pub mod admin_api;
pub mod admin_command;
pub mod audit_command;
pub mod boot;
pub mod cli;
pub mod configuration;
pub mod database;
mod descriptors;
pub mod disk;
pub mod doctor;
pub mod leftovers;
pub mod log;
pub mod manual;
mod output;
pub mod release_command;
mod search_index;
mod secret_file;
pub mod serve;
pub mod shutdown;
pub mod storage;
