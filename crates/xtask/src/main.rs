//! The two commands: `cargo xtask demo` shows nearcrawl at work, `cargo xtask test` proves that it
//! does. Beside them, `bench` and `lab` measure.
//!
//! The road: `machine` makes sure that what the command needs is installed; `web` builds the pages
//! when Node is here; `test` runs every check as a named step and sums up; `demo` builds the
//! binaries and becomes the demo.

use std::process::ExitCode;

use clap::{Parser, Subcommand};

mod bench;
mod cargo;
mod demo;
mod deny;
mod lab;
mod machine;
mod repository;
mod steps;
mod test;
mod web;

#[derive(Debug, Parser)]
#[command(name = "cargo xtask", about = "Everything that is done with this repository")]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Shows the whole road in a virtual internet: registry data, agents, delegations, crawl,
    /// search.
    Demo(demo::Args),
    /// Runs every check there is: format, lints, documentation, tests, licences, browser.
    Test(test::Args),
    /// Measures what has a promise: hierarchy lookups and the load of the registry files.
    Bench(bench::Args),
    /// Replays the papers' experiments and ours on matrices of round trips.
    Lab(lab::Args),
}

fn main() -> ExitCode {
    let outcome = match Cli::parse().task {
        Task::Demo(args) => demo::run(&args),
        Task::Test(args) => test::run(&args),
        Task::Bench(args) => bench::run(&args),
        Task::Lab(args) => lab::run(&args),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}
