//! `nearcrawl-crawl-bench`: crawls of a web on loopback by the agent and by other crawlers.
//! `cargo xtask bench crawl` starts it.

use std::path::PathBuf;

use anyhow::Context as _;
use clap::{Parser, Subcommand};
use crawl_bench::case::{Case, Kind, Sizes};
use crawl_bench::machine::{self, Machine};
use crawl_bench::peers::{Peer, Programs};
use crawl_bench::process::syscalls::Counter;
use crawl_bench::referee::control;
use crawl_bench::rounds::{self, Plan};
use crawl_bench::table::{self, CsvFile};

#[derive(Debug, Parser)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Crawls all cases with all peers
    Run(Box<Run>),
    /// Serves the web; the benchmark starts it and talks to it
    #[command(hide = true)]
    Referee(control::Options),
}

#[derive(Debug, clap::Args)]
struct Run {
    /// Prints one JSON document instead of a table
    #[arg(long)]
    json: bool,
    /// Rounds of each case
    #[arg(long, default_value_t = 3)]
    rounds: u32,
    /// Peers; only those named here crawl, and also in the cases with a delay
    #[arg(long, value_delimiter = ',')]
    only: Vec<Peer>,
    /// Peers that crawl when `--only` is not given
    #[arg(long, value_delimiter = ',', default_values = ["ours", "wget2"], hide = true)]
    available: Vec<Peer>,
    /// Cases to crawl
    #[arg(long, value_delimiter = ',', default_values = ["many", "one", "polite", "address"])]
    cases: Vec<Kind>,
    /// Answers are compressed for clients that accept gzip
    #[arg(long)]
    gzip: bool,
    /// Leaves out the crawls that count calls of fsync
    #[arg(long)]
    no_fsyncs: bool,
    /// Threads of the web's server
    #[arg(long, default_value_t = 1)]
    referee_threads: usize,
    /// Writes the raw runs to this file
    #[arg(long)]
    csv: Option<PathBuf>,
    /// Date of the raw runs
    #[arg(long, default_value = "")]
    date: String,
    #[command(flatten)]
    sizes: Sizes,
    #[command(flatten)]
    programs: Programs,
}

fn main() -> anyhow::Result<()> {
    match Cli::parse().command {
        Command::Referee(options) => control::run(&options),
        Command::Run(run) => {
            let runtime = tokio::runtime::Builder::new_multi_thread()
                .worker_threads(1)
                .enable_all()
                .build()
                .context("cannot start a runtime")?;
            runtime.block_on(async {
                tokio::select! {
                    done = crawl(&run) => done,
                    // What is dropped ends the crawlers and removes their directories.
                    _ = tokio::signal::ctrl_c() => anyhow::bail!("interrupted"),
                }
            })
        }
    }
}

/// What counts calls of fsync, if they are to be counted.
fn counter(run: &Run) -> Option<Counter> {
    if run.no_fsyncs {
        return None;
    }
    let counter = Counter::available();
    if counter.is_none() {
        eprintln!("calls of fsync are not counted: neither perf nor strace works here");
    }
    counter
}

async fn crawl(run: &Run) -> anyhow::Result<()> {
    machine::raise_file_limit()?;
    let machine = Machine::read();
    let named = !run.only.is_empty();
    let plan = Plan {
        cases: run.cases.iter().map(|kind| Case::new(*kind, &run.sizes, run.gzip)).collect(),
        peers: if named { run.only.clone() } else { run.available.clone() },
        rounds: run.rounds,
        referee_threads: run.referee_threads,
        counter: counter(run),
    };
    // Before the crawls: they take long, and a wrong path would be noticed at their end.
    let csv = run.csv.as_deref().map(CsvFile::create).transpose()?;
    let tell = |it: &_| eprintln!("{}", table::line(it));
    let all = rounds::run(&plan, named, &run.programs, tell).await?;
    if let Some(csv) = csv {
        csv.write(&run.date, &machine.processor, &all)?;
    }
    if run.json {
        let document = serde_json::json!({ "machine": machine, "runs": all });
        println!("{}", serde_json::to_string_pretty(&document)?);
    } else {
        println!("{}, {} cores, load {}", machine.processor, machine.cores, machine.load);
        print!("{}", table::table(&all));
    }
    Ok(())
}
