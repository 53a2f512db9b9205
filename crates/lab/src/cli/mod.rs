//! Commands of `cargo xtask lab`, one per experiment.

pub(crate) mod balance;
pub(crate) mod calibration;
mod calibration_paths;
pub(crate) mod delegation;
mod files;
pub(crate) mod forgery;
mod output;
mod plot;
pub(crate) mod region;
pub(crate) mod report;
pub(crate) mod scale;

use clap::{Parser, Subcommand};

#[derive(Debug, Parser)]
#[command(name = "lab", version)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Delegate new subnets by one strategy, from a cold start, and compare with the nearest agents
    Delegation(delegation::Args),
    /// Delegate the subnets of many hosts to many agents and time the decisions
    Scale(scale::Args),
    /// Delegate by several strategies and write their table and plot
    Report(report::Args),
    /// Balance loads by every rule and compare with the optimum
    Balance(balance::Args),
    /// Slow pages down and count how soon that was noticed, and how many reports were false
    Calibration(calibration::Args),
    /// Let an agent forge its round trips and count how soon it is paused
    Forgery(forgery::Args),
    /// Crawl a link graph with a simulated region
    Region(region::Args),
}
