//! What a coordinator costs at full size: 1,000 agents, 2 million delegated subnets, 5 million
//! hosts, 10 million rows of loads, 1 million packages, in a private Postgres.
//!
//! 1. `fill` makes the database by SQL.
//! 2. `tasks` runs every background task until it has nothing to do, then times an idle run of
//!    each, and explains the statements of another one.
//! 3. `lists` times the lists of the dashboard.
//! 4. `service` starts the program on that database, times its way to leadership, and measures the
//!    processor time that heartbeats of all agents cost.
//!
//! `cargo bench -p coordinator --bench coordinator -- [--scale F]`; the program must have
//! been built in the same profile.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a bench stops at what it did not expect, and prints"
)]

mod fill;
mod idle;
mod lists;
mod plans;
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
        println!("{name:<40} {value:>10.1} {unit:<12} at most {most}{verdict}");
    }
}

/// The part of the full size that the command line asks for.
fn scale() -> Scale {
    let mut scale = Scale(1.0);
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            // Cargo adds it.
            "--bench" => {}
            "--scale" => scale = Scale(words.next().unwrap().parse().unwrap()),
            other => panic!("unknown option {other}"),
        }
    }
    scale
}

#[tokio::main]
async fn main() -> ExitCode {
    let scale = scale();
    let dir = tempfile::tempdir().unwrap();
    let cluster = Cluster::start(cluster::Options::new(dir.path())).await.unwrap();
    let address = Address::private(cluster.socket_dir());
    let store = store::open_with(&address, 12).await.unwrap();
    let begun = Instant::now();
    fill::fill(&store, scale).await;
    eprintln!("the database is filled after {:.0} s", begun.elapsed().as_secs_f64());
    // All coordinators use it, one after the other: the packages of a database are in one place.
    let data_dir = dir.path().join("coordinator");
    let mut figures = tasks::measure(&store, &data_dir).await;
    figures.extend(lists::measure(&store).await);
    store.close().await;
    figures.iter().for_each(Figure::print);
    let service = service::measure(&cluster, &data_dir, scale).await;
    service.iter().for_each(Figure::print);
    figures.extend(service);
    cluster.stop().await;
    if figures.iter().all(Figure::is_kept) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
