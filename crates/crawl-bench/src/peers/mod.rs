//! Crawlers that are compared.

mod httrack;
mod ours;
mod scrapy;
mod spider;
mod strangers;
mod wget2;

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

use crate::case::Case;
use crate::measurement::Outcome;
use crate::process::syscalls::Counter;
use crate::referee::Referee;

/// A crawler.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Peer {
    /// nearcrawl-agent with everything on
    Ours,
    /// GNU Wget2
    Wget2,
    /// HTTrack
    Httrack,
    /// Scrapy
    Scrapy,
    /// A program around the crate `spider`
    Spider,
}

impl Peer {
    /// Name in tables and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ours => "ours",
            Self::Wget2 => "wget2",
            Self::Httrack => "httrack",
            Self::Scrapy => "scrapy",
            Self::Spider => "spider",
        }
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
    /// The program around the crate `spider`
    #[arg(long, default_value = "crawl-spider")]
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

/// Runs a crawl to its end or to its time limit.
pub async fn crawl(
    peer: Peer,
    programs: &Programs,
    job: &Job<'_>,
    referee: &mut Referee,
) -> anyhow::Result<Outcome> {
    let command = match peer {
        Peer::Ours => return ours::crawl(programs, job, referee).await,
        Peer::Wget2 => wget2::command(&programs.wget2, job)?,
        Peer::Httrack => httrack::command(&programs.httrack, job)?,
        Peer::Scrapy => scrapy::command(&programs.scrapy, job)?,
        Peer::Spider => spider::command(&programs.spider, job)?,
    };
    strangers::crawl(peer, command, job).await
}
