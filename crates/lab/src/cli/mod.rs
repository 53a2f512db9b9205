//! Words of the command line.

pub(crate) mod delegation;

use clap::{Parser, Subcommand};

/// Latency experiments.
#[derive(Debug, Parser)]
#[command(name = "lab", version)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Hand new subnets out by one strategy and say how near to the optimum it came
    Delegation(delegation::Args),
}
