//! Crawlers that are compared.

mod httrack;
mod ours;
mod scrapy;
mod slow_sync;
mod spider;
mod strangers;
mod wget2;

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

use crate::case::Case;
use crate::coordinator::Shipped;
use crate::process::syscalls::Counter;
use crate::process::usage::Usage;
use crate::referee::Referee;

/// A crawler that is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ValueEnum, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "kebab-case")]
pub enum Peer {
    /// nearcrawl-agent with everything on
    Ours,
    /// The same on a disk whose calls of fsync take 10 ms more; only by name
    OursSlowSync,
    /// GNU Wget2 with 64 threads
    Wget2,
    /// HTTrack with 64 sockets
    Httrack,
    /// Scrapy with 64 concurrent requests
    Scrapy,
    /// The crate spider with 64 requests at a time
    Spider,
}

impl Peer {
    /// Name in tables and files.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// Where the programs are.
#[derive(Debug, Clone, clap::Args)]
pub struct Programs {
    /// The agent; default: beside this program
    #[arg(long)]
    pub agent: Option<PathBuf>,
    #[arg(long, default_value = "wget2")]
    pub wget2: PathBuf,
    #[arg(long, default_value = "httrack")]
    pub httrack: PathBuf,
    #[arg(long, default_value = "scrapy")]
    pub scrapy: PathBuf,
    /// The program in `crates/crawl-bench/spider`
    #[arg(long, default_value = "nearcrawl-spider")]
    pub spider: PathBuf,
}

/// A crawl that a peer is to do.
#[derive(Debug)]
pub struct Job<'a> {
    pub case: &'a Case,
    /// The root of each host.
    pub seeds: &'a [String],
    /// Port of the web.
    pub port: u16,
    /// An empty directory for whatever the peer writes.
    pub dir: &'a Path,
    /// Counts the agent's calls of fsync; its usage is unknown then.
    pub counter: Option<Counter>,
}

/// What a crawl shows besides what the referee sees.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Outcome {
    /// Whether the time limit ended the crawl.
    pub cut: bool,
    /// What the process used; none when it ran under a counter.
    pub usage: Option<Usage>,
    /// What arrived at the coordinator; none for crawlers that ship nothing.
    pub shipped: Option<Shipped>,
    /// From the start of the agent to its last package, in seconds.
    pub shipped_s: Option<f64>,
    /// Calls of fsync and fdatasync, where they were counted.
    pub fsyncs: Option<u64>,
}

/// Runs a crawl to its end or to its time limit.
pub async fn crawl(
    peer: Peer,
    programs: &Programs,
    job: &Job<'_>,
    referee: &mut Referee,
) -> anyhow::Result<Outcome> {
    let command = match peer {
        Peer::Ours => return ours::crawl(programs, job, referee, None).await,
        Peer::OursSlowSync => {
            let library = slow_sync::library(job.dir)?;
            return ours::crawl(programs, job, referee, Some(&library)).await;
        }
        Peer::Wget2 => wget2::command(&programs.wget2, job)?,
        Peer::Httrack => httrack::command(&programs.httrack, job)?,
        Peer::Scrapy => scrapy::command(&programs.scrapy, job)?,
        Peer::Spider => spider::command(&programs.spider, job)?,
    };
    strangers::crawl(peer, command, job).await
}
