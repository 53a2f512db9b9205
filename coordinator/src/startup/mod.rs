//! Start and stop: command line, boot, serve, shutdown.

pub mod audit_command;
pub mod boot;
pub mod cli;
pub mod log;
pub mod serve;
pub mod shutdown;
