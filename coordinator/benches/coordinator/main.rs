//! What a coordinator costs at full size: 1,000 agents, 2 million delegated subnets, 5 million
//! hosts, 10 million rows of loads, 1 million packages, in a private Postgres.
//!
//! 1. `fill` makes the database by SQL.
//! 2. `tasks` runs every background task until it has nothing to do, then times an idle run of
//!    each, and explains the statements of another one.
//! 3. `service` starts the program on that database, times its way to leadership, lets `lists` time
//!    the overview and the lists of the dashboard, and measures the processor time that heartbeats
//!    of all agents cost.
//!
//! `cargo bench -p coordinator --bench coordinator -- [--scale F] [--only-lists]`; the program must
//! have been built in the same profile.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a bench stops at what it did not expect, and prints"
)]

#[path = "../world/cities.rs"]
mod cities;
mod fill;
mod homes;
mod idle;
mod lists;
mod plans;
mod program;
mod service;
mod tasks;

use std::process::ExitCode;
use std::time::Instant;

use cluster::Cluster;
use store::Address;

use crate::fill::Scale;

/// A figure with the most that it may be.
struct Figure {
    name: String,
    value: f64,
    most: f64,
    unit: &'static str,
}

impl Figure {
    fn is_kept(&self) -> bool {
        self.value <= self.most
    }

    fn print(&self) {
        let Self { name, value, most, unit } = self;
        let verdict = if self.is_kept() { "" } else { "  MISSED" };
        println!("{name:<60} {value:>10.1} {unit:<12} at most {most}{verdict}");
    }
}

/// What the command line asks for.
struct Options {
    /// The part of the full size.
    scale: Scale,
    /// Whether the lists alone are measured, without background tasks and heartbeats.
    only_lists: bool,
}

fn options() -> Options {
    let mut options = Options { scale: Scale(1.0), only_lists: false };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            // Cargo adds it.
            "--bench" => {}
            "--scale" => options.scale = Scale(words.next().unwrap().parse().unwrap()),
            "--only-lists" => options.only_lists = true,
            other => panic!("unknown option {other}"),
        }
    }
    options
}

#[tokio::main]
async fn main() -> ExitCode {
    tokio::select! {
        all_are_kept = measure(options()) => {
            if all_are_kept { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        // What is dropped removes the database, which has many gigabytes.
        _ = tokio::signal::ctrl_c() => ExitCode::FAILURE,
    }
}

/// Returns whether all limits were kept.
async fn measure(options: Options) -> bool {
    let Options { scale, only_lists } = options;
    let dir = tempfile::tempdir().unwrap();
    let cluster = Cluster::start(cluster::Options::new(dir.path())).await.unwrap();
    let address = Address::private(cluster.socket_dir());
    let store = store::open_with(&address, 12).await.unwrap();
    let begun = Instant::now();
    fill::fill(&store, scale).await;
    eprintln!("the database is filled after {:.0} s", begun.elapsed().as_secs_f64());
    // All coordinators use it, one after the other: the packages of a database are in one place.
    let data_dir = dir.path().join("coordinator");
    let mut figures = Vec::new();
    if only_lists {
        // Its tasks do what there is to do, so that the program has nothing to do but to answer.
        drop(idle::coordinator(&store, &data_dir).await);
    } else {
        figures = tasks::measure(&store, &data_dir).await;
        figures.iter().for_each(Figure::print);
    }
    store.close().await;
    let service = service::measure(&cluster, &data_dir, scale, !only_lists).await;
    service.iter().for_each(Figure::print);
    figures.extend(service);
    cluster.stop().await;
    figures.iter().all(Figure::is_kept)
}
