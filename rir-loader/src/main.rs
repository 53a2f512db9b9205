//! Command line of the loader.

mod cli;
mod command;
mod failure;
mod progress_bar;

use std::process::ExitCode;

use clap::Parser;

use crate::cli::{Cli, Command};

fn main() -> ExitCode {
    start_logging();
    let result = match Cli::parse().command {
        Command::Load(args) => command::load::run(&args),
        Command::Split(args) => command::split::run(&args),
        Command::Fetch(args) => command::fetch::run(&args),
        Command::Stats(args) => command::stats::run(&args),
        Command::Inspect(args) => command::inspect::run(&args),
        Command::Diff(args) => command::diff::run(&args),
        Command::Man => command::man::run(),
        Command::Completions { shell } => command::completions::run(shell),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failure::report(&error),
    }
}

/// Logs warnings of the libraries (Postgres going away and the like), more with `RUST_LOG`.
fn start_logging() {
    let filter = tracing_subscriber::EnvFilter::try_from_default_env();
    let filter = filter.unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("warn"));
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).init();
}
