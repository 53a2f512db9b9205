//! `cargo xtask bench`: one subcommand for each benchmark.

mod crawl;

use std::ffi::OsString;
use std::path::{PathBuf, absolute};

use anyhow::Context;

use crate::cargo::cargo;
use crate::machine;
use crate::process::succeed;

/// A benchmark to run.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    bench: Bench,
}

#[derive(Debug, clap::Subcommand)]
enum Bench {
    /// Lookups of addresses in the hierarchy, beside the tries of other crates
    Lookups {
        /// Run only benchmarks whose name contains this
        filter: Option<String>,
    },
    /// Delegation searches a second, with every step in Postgres: 100 agents that answer after
    /// 100 ms, 10,000 subnets, shipped limits
    Searches {
        /// Number of agents
        #[arg(long, default_value_t = 100)]
        agents: u32,
        /// Milliseconds until an agent answers; 0: answers cost nothing
        #[arg(long, default_value_t = 100)]
        delay_ms: u32,
        /// Number of subnets with a waiting host
        #[arg(default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..=65_536))]
        subnets: u32,
    },
    /// Extraction of pages by the agent, beside the parser alone
    Extract {
        /// Directory with a page in each directory, named source.html
        pages: PathBuf,
    },
    /// Idle tasks, overview, start and heartbeats on a database of full size: 2 million subnets, 5
    /// million hosts (about 15 GB of disk, a quarter of an hour)
    Coordinator {
        /// Part of the full size
        #[arg(long, default_value_t = 1.0)]
        scale: f64,
        /// Measures the lists of the dashboard alone
        #[arg(long)]
        only_lists: bool,
    },
    /// Crawls of a web on loopback by the agent, wget2, httrack, Scrapy and spider, judged by the
    /// web's server
    Crawl(crawl::Args),
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    match &args.bench {
        Bench::Lookups { filter } => bench("hierarchy", None, filter.iter().map(OsString::from)),
        Bench::Searches { agents, delay_ms, subnets } => {
            machine::provide(&[machine::POSTGRES])?;
            let mut arguments = vec!["--agents".to_owned(), agents.to_string()];
            if *delay_ms > 0 {
                arguments.extend(["--delay-ms".to_owned(), delay_ms.to_string()]);
            }
            arguments.push(subnets.to_string());
            bench("coordinator", Some("searches"), arguments.into_iter().map(OsString::from))
        }
        Bench::Extract { pages } => {
            // The benchmark runs in the directory of its package.
            let pages = absolute(pages).context("cannot find the pages")?;
            bench("crawler-agent", Some("extract"), [pages.into_os_string()])
        }
        Bench::Coordinator { scale, only_lists } => {
            machine::provide(&[machine::POSTGRES])?;
            // The benchmark starts the program that lies beside it.
            call(&["build", "--locked", "--release", "--package", "coordinator", "--bins"], [])?;
            let mut arguments = vec!["--scale".to_owned(), scale.to_string()];
            arguments.extend(only_lists.then(|| "--only-lists".to_owned()));
            bench("coordinator", Some("coordinator"), arguments.into_iter().map(OsString::from))
        }
        Bench::Crawl(args) => crawl::run(args),
    }
}

fn bench(
    package: &str,
    target: Option<&str>,
    arguments: impl IntoIterator<Item = OsString>,
) -> anyhow::Result<()> {
    let mut words = vec!["bench", "--locked", "--package", package];
    words.extend(target.into_iter().flat_map(|target| ["--bench", target]));
    words.push("--");
    call(&words, arguments)
}

fn call(words: &[&str], arguments: impl IntoIterator<Item = OsString>) -> anyhow::Result<()> {
    succeed(cargo(words).args(arguments), &format!("cargo {}", words[0]))
}
