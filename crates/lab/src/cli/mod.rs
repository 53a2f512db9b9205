//! Words of the command line.

pub(crate) mod balance;
pub(crate) mod calibration;
pub(crate) mod delegation;
mod files;
mod lines;
pub(crate) mod report;
pub(crate) mod scale;

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
    /// Let many hosts come up with many agents and time the decisions
    Scale(scale::Args),
    /// Run a set of all experiments and write tables and plots
    Report(report::Args),
    /// Balance loads by every rule and say how near to the optimum each came
    Balance(balance::Args),
    /// Let pages become slower and say how soon it was noticed, and how often wrongly
    Calibration(calibration::Args),
}
