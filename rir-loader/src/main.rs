//! The command line of the loader: reads it, runs one command, turns an error into a sentence and
//! an exit code.

mod cli;
mod command;
mod failure;
mod screen;

use std::process::ExitCode;

use clap::Parser;

use crate::cli::{Cli, Command};

fn main() -> ExitCode {
    start_logging();
    let outcome = match Cli::parse().command {
        Command::Load(args) => command::load::run(&args),
        Command::Cut(args) => command::cut::run(&args),
        Command::Fetch(args) => command::fetch::run(&args),
        Command::Stats(args) => command::stats::run(&args),
        Command::Inspect(args) => command::inspect::run(&args),
        Command::Diff(args) => command::diff::run(&args),
        Command::Man => command::man::run(),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failure::report(&error),
    }
}

/// Warnings of the libraries (Postgres going away and the like); more with RUST_LOG.
fn start_logging() {
    let filter = tracing_subscriber::EnvFilter::try_from_default_env();
    let filter = filter.unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("warn"));
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).init();
}
