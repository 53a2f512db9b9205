//! The second process: opens the frontier, and crawls at a steady rate in the order of the agent's
//! schedule.

use std::{
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::Context as _;
use crawler_agent::{
    frontier::{Bounds, Effect, Frontier, FrontierHandle, INBOX_PATIENCE},
    schedule::{Claim, FillRules, Schedule},
};
use rand::{SeedableRng as _, rngs::StdRng};

use super::{
    Crawl,
    web::{LINKS, Web},
};
use crate::{
    usage::{Usage, memory_mb, reads_of_thread},
    visits::{self, NOW, WIRE_BYTES},
};

/// Request slots of an agent with shipped settings.
const SLOTS: usize = 64;
/// Delay between requests to a host.
const DELAY: Duration = Duration::from_secs(1);
/// Bytes of a page's text: an eighth, as in the benchmark of whole crawls.
const TEXT: usize = 900;
/// Time between two packages.
const PACKAGE: Duration = Duration::from_secs(2);
/// Without a delay after the start, which would be counted as a part of it.
const RULES: FillRules = FillRules { now: NOW, delay: Duration::ZERO, revisit_period: None };
/// Duration of a request, of which an agent has 64 at a time.
const REQUEST: Duration = Duration::from_millis(100);
const BOUNDS: Bounds = Bounds { pages_a_host: 10_000, depth: u16::MAX };

/// What a crawl has done.
#[derive(Debug, Default)]
struct Tally {
    visits: u64,
    /// Reads while links were looked up.
    for_links: u64,
}

pub(crate) async fn run(crawl: &Crawl, path: &Path) -> anyhow::Result<()> {
    drop(restart(path, "from disk").await?);
    let (store, schedule) = restart(path, "from the system's cache").await?;
    println!("memory then | {:.0} MB, at most {:.0} |", memory_mb("VmRSS")?, memory_mb("VmHWM")?);
    let before = Usage::now()?;
    let syncs = count_syncs(path)?;
    let tally = pages(&store, &schedule, crawl).await?;
    report(&tally, &before, count_syncs(path)? - syncs, crawl)
}

/// Opens the frontier until the first URL can be fetched.
async fn restart(path: &Path, whence: &str) -> anyhow::Result<(FrontierHandle, Arc<Schedule>)> {
    let started = Instant::now();
    let (store, _failure) = FrontierHandle::start(Frontier::open(path, 1)?)?;
    let opened = started.elapsed().as_secs_f64();
    let schedule = Schedule::new(SLOTS);
    schedule.fill(&store, RULES).await?;
    let first = loop {
        if let Some(first) = take(&schedule) {
            break first;
        }
        schedule.wait().await;
    };
    store.snapshot(first.host()).await?.context("the host is gone")?;
    let ready = started.elapsed().as_secs_f64();
    println!("restart to the first URL, {whence} | {ready:.2} s, of it {opened:.2} to open | 5");
    Ok((store, schedule))
}

/// Brings hosts in as the agent does.
async fn keep_filled(store: FrontierHandle, schedule: Arc<Schedule>) -> anyhow::Result<()> {
    loop {
        schedule.until_wanted().await;
        schedule.fill(&store, RULES).await?;
    }
}

/// The next host, as if its name was looked up at once.
fn take(schedule: &Arc<Schedule>) -> Option<Claim> {
    while let Some(host) = schedule.take_unresolved() {
        schedule.resolved(host);
    }
    schedule.take(DELAY)
}

/// Visits hosts for the time of the crawl.
async fn pages(
    store: &FrontierHandle,
    schedule: &Arc<Schedule>,
    crawl: &Crawl,
) -> anyhow::Result<Tally> {
    let filling = tokio::spawn(keep_filled(store.clone(), Arc::clone(schedule)));
    let web = crawl.web();
    let mut rng = StdRng::seed_from_u64(1);
    let mut tally = Tally::default();
    let mut packed = Instant::now();
    let mut tick = tokio::time::interval(Duration::from_secs_f64(1.0 / crawl.rate));
    let end = Instant::now() + Duration::from_secs(crawl.seconds);
    while Instant::now() < end {
        tick.tick().await;
        let Some(claim) = take(schedule) else { continue };
        visit(store, schedule, claim, &web, &mut rng, &mut tally).await?;
        if packed.elapsed() >= PACKAGE {
            packed = Instant::now();
            visits::pack(store).await?;
        }
    }
    filling.abort();
    Ok(tally)
}

async fn visit(
    store: &FrontierHandle,
    schedule: &Schedule,
    mut claim: Claim,
    web: &Web,
    rng: &mut StdRng,
    tally: &mut Tally,
) -> anyhow::Result<()> {
    let snapshot = store.snapshot(claim.host()).await?.context("the host is gone")?;
    let Some(item) = snapshot.next else {
        claim.finish(Duration::ZERO, false);
        return Ok(());
    };
    claim.page_took(REQUEST);
    let change = visits::done(&item, TEXT, web.links(&item, rng)?, BOUNDS);
    let before = reads_of_thread()?;
    let Effect { ready, has_queued, undecided, .. } = store.apply(change)?;
    // Reading the counter is a read itself.
    tally.for_links += reads_of_thread()? - before - 1;
    tally.visits += 1;
    if undecided {
        schedule.expect_work(INBOX_PATIENCE);
    }
    for (host, due) in ready {
        schedule.offer(host, due, NOW, Duration::ZERO);
    }
    claim.finish(DELAY, has_queued);
    Ok(())
}

fn report(tally: &Tally, before: &Usage, syncs: usize, crawl: &Crawl) -> anyhow::Result<()> {
    let after = Usage::now()?;
    let visits = tally.visits as f64;
    let links = visits * LINKS as f64;
    let all = (after.reads - before.reads) as f64 - 2.0 * visits;
    let written = (after.written - before.written) as f64 / (visits * WIRE_BYTES as f64);
    let rate = visits / crawl.seconds as f64;
    let cpu = (after.cpu_us - before.cpu_us) as f64 / visits;
    println!("crawl | {visits} pages with {LINKS} links, {rate:.0} a second, {cpu:.0} us each |");
    println!("reads a link | {:.3} | 0.05", tally.for_links as f64 / links);
    println!("reads a link, also for hosts and checkpoints | {:.3} |", all / links);
    println!("calls of fsync a second | {:.2} | 2", syncs as f64 / crawl.seconds as f64);
    println!("bytes written for each byte fetched | {written:.2} | 1.5");
    println!("memory | {:.0} MB, at most {:.0} | 64", memory_mb("VmRSS")?, memory_mb("VmHWM")?);
    Ok(())
}

/// Calls of fsync so far, which strace writes to a file beside the frontier.
fn count_syncs(path: &Path) -> anyhow::Result<usize> {
    let text = std::fs::read_to_string(path.with_file_name("syncs"))?;
    Ok(text.lines().filter(|line| line.contains("sync(")).count())
}
