//! Replays of the papers' experiments on a matrix of round trips; `cargo xtask lab` runs this.

mod cli;

use anyhow::Context as _;
use clap::Parser as _;

use crate::cli::{Cli, Command};

fn main() -> anyhow::Result<()> {
    match Cli::parse().command {
        Command::Delegation(args) => {
            cli::delegation::run(&args).context("the delegation experiment")
        }
        Command::Scale(args) => cli::scale::run(&args).context("the scale experiment"),
        Command::Report(args) => cli::report::run(&args).context("the report"),
        Command::Calibration(args) => cli::calibration::run(&args),
        Command::Forgery(args) => cli::forgery::run(&args).context("the forgery experiment"),
        Command::Region(args) => cli::region::run(&args).context("the region experiment"),
        Command::Balance(args) => cli::balance::run(&args).context("the balance experiment"),
    }
}
