//! `nearcrawl-agent`: lives at a partner: probe, fetch, extract, ship.

use std::process::ExitCode;

use clap::Parser as _;

fn main() -> ExitCode {
    crawler_agent::cli::main(crawler_agent::cli::Cli::parse())
}
