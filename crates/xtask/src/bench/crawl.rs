//! `cargo xtask bench crawl`: builds the agent and the benchmark, provides the other crawlers, and
//! runs all of them.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use clap::ValueEnum;

use crate::cargo::{build_release, cargo};
use crate::process::{pass_on, succeed};
use crate::{machine, repository};

/// Options of the benchmark, which are passed on, except the choice of crawlers.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Crawlers to run, and no others: ours, wget2, httrack, scrapy, spider, and ours-slow-sync,
    /// whose calls of fsync take 10 ms more. Default: all but the last, without those that cannot
    /// be provided on this machine
    #[arg(long, value_delimiter = ',')]
    only: Vec<Crawler>,
    /// Prints one JSON document instead of a table
    #[arg(long)]
    json: bool,
    /// Rounds of each case
    #[arg(long, default_value_t = 3)]
    rounds: u32,
    /// Further options of the benchmark: `cargo xtask bench crawl -- --help` lists them
    #[arg(last = true)]
    options: Vec<OsString>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Crawler {
    Ours,
    OursSlowSync,
    Wget2,
    Httrack,
    Scrapy,
    Spider,
}

impl Crawler {
    /// Those that run where none is named.
    const USUAL: [Self; 5] = [Self::Ours, Self::Wget2, Self::Httrack, Self::Scrapy, Self::Spider];

    fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }

    /// Makes its program available; the path, where it is not that of an installed package.
    fn provide(self) -> anyhow::Result<Option<PathBuf>> {
        match self {
            Self::Ours | Self::OursSlowSync => machine::provide(&[machine::MAKE]).map(|()| None),
            Self::Wget2 => machine::provide(&[machine::WGET2]).map(|()| None),
            Self::Httrack => machine::provide(&[machine::HTTRACK]).map(|()| None),
            Self::Scrapy => {
                let dir = repository::target().join("crawl-bench/scrapy");
                machine::python(&dir, "scrapy", "scrapy").map(Some)
            }
            Self::Spider => spider().map(Some),
        }
    }
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    build_release("crawl-bench")?;
    let mut command = Command::new(repository::target().join("release/nearcrawl-crawl-bench"));
    command.arg("run");
    // Help needs neither the agent nor other crawlers.
    if !args.options.iter().any(|option| option == "--help" || option == "-h") {
        // The agent is built alone, with the features that are shipped.
        build_release("crawler-agent")?;
        command.args(["--rounds", &args.rounds.to_string()]);
        command.args(args.json.then_some("--json"));
        provide(&args.only, &mut command)?;
    }
    pass_on(command.args(&args.options))
}

/// Adds the crawlers and their programs to the command. One that was asked for by name must be
/// there; of the others, those that are not are named and left out.
fn provide(only: &[Crawler], command: &mut Command) -> anyhow::Result<()> {
    let named = !only.is_empty();
    let wanted = if named { only } else { &Crawler::USUAL };
    let mut available = Vec::new();
    for crawler in wanted {
        let name = crawler.name();
        match crawler.provide() {
            Ok(program) => {
                if let Some(program) = program {
                    command.arg(format!("--{name}")).arg(program);
                }
                available.push(name);
            }
            Err(error) if named => return Err(error),
            Err(error) => eprintln!("{name} is left out: {error:#}"),
        }
    }
    command.arg(if named { "--only" } else { "--available" }).arg(available.join(","));
    Ok(())
}

/// The program of the crate spider, a package outside of the workspace. It is built here only.
fn spider() -> anyhow::Result<PathBuf> {
    let package = repository::root().join("crates/crawl-bench/spider");
    let dir = repository::target().join("crawl-bench").join("spider");
    let mut build = cargo(&["build", "--locked", "--quiet", "--release", "--manifest-path"]);
    build.arg(package.join("Cargo.toml")).arg("--target-dir").arg(&dir);
    succeed(build.stdout(Stdio::null()), "the build of spider")?;
    Ok(dir.join("release/nearcrawl-spider"))
}
