//! A frontier of 10⁸ URLs on 10⁶ hosts: memory, bytes on disk, reads, time of a restart, and what a
//! crawl writes, each beside its limit.
//!
//! One process makes the frontier: hosts come as bundles, as they come from other agents. Another
//! one opens it, so that it has only the memory of a restarted agent, first with nothing of the
//! file in the system's cache; see [`opened`].

pub(crate) mod opened;
mod web;

use std::{fs::File, path::Path, process::Command, time::Instant};

use anyhow::{Context as _, ensure};
use crawler_agent::frontier::{Change, Frontier};
use nix::fcntl::{PosixFadviseAdvice, posix_fadvise};
use redb::{ReadableTableMetadata as _, TableDefinition};
use web::{URLS_A_HOST, Web};

use crate::{usage::bytes_on_disk, visits::NOW};

/// Hosts after which it is asked whether a checkpoint is due.
const STEP: u64 = 500;

/// Table of fingerprints in the frontier's file.
const SEEN: TableDefinition<'_, (u64, u32), &[u8]> = TableDefinition::new("seen");

/// What is made and crawled.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Crawl {
    /// Number of URLs, in 10⁸.
    pub(crate) scale: f64,
    /// Pages a second.
    pub(crate) rate: f64,
    /// Duration of the crawl, in seconds.
    pub(crate) seconds: u64,
}

impl Crawl {
    fn web(&self) -> Web {
        Web::new((self.scale * 1e6) as u64)
    }
}

/// Makes the frontier in a directory, and lets another process open it.
pub(crate) fn run(crawl: &Crawl, dir: Option<&Path>) -> anyhow::Result<()> {
    let dir = match dir {
        Some(dir) => tempfile::tempdir_in(dir)?,
        None => tempfile::tempdir()?,
    };
    let path = dir.path().join("frontier");
    make(&crawl.web(), &path)?;
    report_disk(&crawl.web(), &path)?;
    drop_from_cache(&path)?;
    open(crawl, &path, &dir.path().join("syncs"))
}

fn make(web: &Web, path: &Path) -> anyhow::Result<()> {
    let started = Instant::now();
    let frontier = Frontier::open(path, 1)?;
    for host in 0..web.hosts() {
        let bundle = web::bundle(host).encode()?;
        frontier.apply(Change::TakeOver { bundle, keeps_times: true, at: NOW })?;
        if host % STEP == 0 && frontier.needs_checkpoint()? {
            frontier.checkpoint()?;
        }
    }
    frontier.checkpoint()?;
    let seconds = started.elapsed().as_secs_f64();
    println!("{} hosts with {URLS_A_HOST} seen URLs each, made in {seconds:.0} s", web.hosts());
    println!("figure | value | limit");
    Ok(())
}

fn report_disk(web: &Web, path: &Path) -> anyhow::Result<()> {
    let urls = (web.hosts() * URLS_A_HOST) as f64;
    let all = bytes_on_disk(path)? as f64;
    println!("on disk a seen URL | {:.1} bytes | 12", all / urls);
    let db = redb::Database::open(path.join("hosts.redb"))?;
    let write = db.begin_write()?;
    let pages = write.stats()?;
    let seen = write.open_table(SEEN)?;
    let table = seen.stats()?;
    ensure!(seen.len()? >= web.hosts(), "{} runs of {} hosts", seen.len()?, web.hosts());
    let used = table.stored_bytes() + table.metadata_bytes() + table.fragmented_bytes();
    println!("on disk a seen URL, fingerprints | {:.1} bytes |", used as f64 / urls);
    let rest = pages.allocated_pages() * pages.page_size() as u64 - used;
    println!("on disk a seen URL, hosts and queues | {:.1} bytes |", rest as f64 / urls);
    Ok(())
}

/// Drops the files from the system's cache, so that they are read from disk.
fn drop_from_cache(path: &Path) -> anyhow::Result<()> {
    for entry in std::fs::read_dir(path)? {
        let file = File::open(entry?.path())?;
        file.sync_all()?;
        posix_fadvise(&file, 0, 0, PosixFadviseAdvice::POSIX_FADV_DONTNEED)?;
    }
    Ok(())
}

/// Opens the frontier in a process of its own, under strace.
fn open(crawl: &Crawl, path: &Path, syncs: &Path) -> anyhow::Result<()> {
    let mut command = Command::new("strace");
    command.args(["--follow-forks", "--seccomp-bpf", "--quiet=all", "--trace=fsync,fdatasync"]);
    command.arg("--output").arg(syncs).arg(std::env::current_exe()?);
    command.arg("--large").arg(crawl.scale.to_string());
    command.arg("--rate").arg(crawl.rate.to_string());
    command.arg("--seconds").arg(crawl.seconds.to_string());
    let status = command.arg("--opened").arg(path).status().context("cannot start strace")?;
    ensure!(status.success(), "the second process failed");
    Ok(())
}
