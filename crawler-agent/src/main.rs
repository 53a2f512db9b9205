//! `nearcrawl-agent`: the program that a partner organisation runs.

use std::process::ExitCode;

use clap::Parser as _;

fn main() -> ExitCode {
    crawler_agent::cli::main(crawler_agent::cli::Cli::parse())
}
