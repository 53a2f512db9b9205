//! Command line of the loader.

mod cli;
mod command;
mod failure;
mod progress_bar;

use std::io::IsTerminal as _;
use std::process::ExitCode;

use clap::Parser;
use tracing_subscriber::EnvFilter;

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

/// What is logged unless `NEARCRAWL_LOG` or `RUST_LOG` says otherwise: warnings of the libraries,
/// such as a Postgres that goes away. Statements over whole generations take long, which is no
/// warning.
const LOG_FILTER: &str = "warn,sqlx::query=error";

fn start_logging() {
    let filter = EnvFilter::try_from_env("NEARCRAWL_LOG")
        .or_else(|_| EnvFilter::try_from_default_env())
        .unwrap_or_else(|_| EnvFilter::new(LOG_FILTER));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        // A reader that has gone away is no error: to report it on stderr would panic.
        .log_internal_errors(false)
        // A file or a journal gets no codes for colours.
        .with_ansi(std::io::stderr().is_terminal())
        .init();
}
