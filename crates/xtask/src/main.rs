//! Commands of this repository: `cargo xtask demo` shows nearcrawl at work, `cargo xtask test` runs
//! every check, `bench` and `lab` measure, `fuzz-api` sends generated requests to the API.
//!
//! `machine` installs what a command needs; `web` builds the dashboard with Node; `test` runs every
//! check as a named step, the lints in the `background`; `ignored` finds the tests that need
//! something special, and `selection` decides which of them run; `demo` builds the programs and
//! becomes the demo.

use std::process::ExitCode;

use clap::{Parser, Subcommand};

mod background;
mod bench;
mod cargo;
mod demo;
mod deny;
mod fuzz_api;
mod ignored;
mod lab;
mod machine;
mod namespaces;
mod optional;
mod process;
mod repository;
mod selection;
mod steps;
mod test;
mod web;

#[derive(Debug, Parser)]
#[command(name = "cargo xtask", about = "Commands of this repository")]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Shows nearcrawl in a virtual internet: registry data, agents, delegations, crawl, search.
    Demo(demo::Args),
    /// Runs every check: pages, format, lints, documentation, tests, licences, browser.
    Test(test::Args),
    /// Measures lookups, delegation searches, a coordinator at full size, and crawls.
    Bench(bench::Args),
    /// Sends generated requests to every operation of the HTTP API.
    FuzzApi(fuzz_api::Args),
    /// Runs experiments: delegation, balance, calibration, forged reports, and regions.
    Lab(lab::Args),
}

fn main() -> ExitCode {
    let outcome = match Cli::parse().task {
        Task::Demo(args) => demo::run(&args),
        Task::Test(args) => test::run(&args),
        Task::Bench(args) => bench::run(&args),
        Task::FuzzApi(args) => fuzz_api::run(&args),
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
