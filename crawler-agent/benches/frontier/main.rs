//! Benchmark of the frontier: visits of many hosts, then a restart.
//!
//! Every visit asks for the state of its host and ends a fetch with a page of text and links, as
//! the crawl does. Checkpoints and syncs happen as in the agent. Printed are the processor time of
//! a visit, the bytes written, the memory, the size on disk, and the time until a restarted
//! frontier has its first URL.
//!
//! With `--large SCALE`, a frontier of `SCALE` × 10⁸ URLs is made and judged by its limits instead;
//! see [`large`]. It needs strace, which counts calls of fsync.
//!
//! `cargo bench -p crawler-agent --bench frontier -- [--hosts N] [--pages N] [--large SCALE]`

mod large;
mod usage;
mod visits;

use std::{
    path::{Path, PathBuf},
    time::Instant,
};

use anyhow::Context as _;
use clap::Parser;
use crawler_agent::frontier::{
    Bounds, Change, DueQuery, Frontier, FrontierHandle, HostNumber, QueueItem,
};
use model::{CrawlUrl, UnixMillis};
use protocol::Route;
use tikv_jemallocator::Jemalloc;
use usage::Usage;
use visits::NOW;

/// As in the agent, because memory is measured.
#[global_allocator]
static ALLOCATOR: Jemalloc = Jemalloc;

/// Settings of the allocator, which it reads at this symbol: those of the agent.
#[expect(unsafe_code, reason = "the allocator looks for a symbol with this name")]
#[unsafe(export_name = "_rjem_malloc_conf")]
pub static ALLOCATOR_SETTINGS: &[u8; 63] = crawler_agent::allocator::SETTINGS;

/// Links of a page within its host, and to other agents' hosts.
const LINKS: (u32, u32) = (9, 2);
/// Bytes of a page's text.
const TEXT: usize = 6_000;

#[derive(Debug, Parser)]
struct Args {
    /// Number of hosts.
    #[arg(long, default_value_t = 2_000, value_parser = clap::value_parser!(u32).range(1..))]
    hosts: u32,
    /// Number of pages of each host.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    pages: u32,
    /// Judge a frontier of this times 10⁸ URLs instead.
    #[arg(long)]
    large: Option<f64>,
    /// Directory for the large frontier; default: the directory of temporary files.
    #[arg(long)]
    dir: Option<PathBuf>,
    /// Pages a second of the crawl in the large frontier.
    #[arg(long, default_value_t = 100.0)]
    rate: f64,
    /// Duration of that crawl, in seconds.
    #[arg(long, default_value_t = 130)]
    seconds: u64,
    /// Makes this process the second one, which opens the large frontier.
    #[arg(long, hide = true)]
    opened: Option<PathBuf>,
    /// Given by cargo.
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    if let Some(scale) = args.large {
        anyhow::ensure!(scale >= 1e-6, "--large {scale} is less than one host; from 0.000001 on");
        let crawl = large::Crawl { scale, rate: args.rate, seconds: args.seconds };
        return match &args.opened {
            None => large::run(&crawl, args.dir.as_deref()),
            Some(path) => runtime.block_on(large::opened::run(&crawl, path)),
        };
    }
    let dir = tempfile::tempdir()?;
    let path = dir.path().join("frontier");
    println!("{} hosts with {} pages each", args.hosts, args.pages);
    let (store, _failure) = FrontierHandle::start(Frontier::open(&path, 1)?)?;
    let before = Usage::now()?;
    let visits = runtime.block_on(crawl(&store, &args))?;
    drop(store);
    report(&before, &Usage::now()?, visits, &args, &path)?;
    restart(&path)
}

/// Routes the start page of every host, and visits all pages, host by host in turns.
async fn crawl(store: &FrontierHandle, args: &Args) -> anyhow::Result<u64> {
    let mut hosts = route(store, args)?;
    let mut visits = 0;
    while !hosts.is_empty() {
        let mut left = Vec::new();
        for host in hosts {
            let snapshot = store.snapshot(host).await?.context("the host is gone")?;
            let Some(item) = snapshot.next else { continue };
            let effect = store.apply(visit(&item, args)?)?;
            visits += 1;
            if effect.has_queued {
                left.push(host);
            }
        }
        hosts = left;
        visits::pack(store).await?;
    }
    Ok(visits)
}

fn route(store: &FrontierHandle, args: &Args) -> anyhow::Result<Vec<HostNumber>> {
    let mut hosts = Vec::new();
    for seq in 1..=args.hosts {
        let url = format!("http://h{seq}.example/0");
        let routes = vec![Route { seq: seq.into(), url, redirects: 0 }];
        let effect = store.apply(Change::Routes { routes, at: NOW, bounds: bounds(args) })?;
        hosts.extend(effect.ready.iter().map(|(host, _)| *host));
    }
    Ok(hosts)
}

fn bounds(args: &Args) -> Bounds {
    Bounds { pages_a_host: args.pages, depth: u16::MAX }
}

/// The end of a fetch of this URL. Its links lead to the next pages and to some before them.
fn visit(item: &QueueItem, args: &Args) -> anyhow::Result<Change> {
    let number: u32 = item.url.path_and_query()[1..].parse()?;
    let own = (1..=LINKS.0).map(|step| format!("/{}", (number + step * step) % args.pages));
    let foreign = (0..LINKS.1).map(|step| format!("http://f{}.example/", (number + step) % 97));
    let links = own.chain(foreign).map(|link| CrawlUrl::join(item.url.url(), &link));
    let links: Vec<CrawlUrl> = links.collect::<Result<_, _>>()?;
    Ok(visits::done(item, TEXT, links, bounds(args)))
}

fn report(
    before: &Usage,
    after: &Usage,
    visits: u64,
    args: &Args,
    path: &Path,
) -> anyhow::Result<()> {
    let cpu = (after.cpu_us - before.cpu_us) as f64 / visits as f64;
    let written = (after.written - before.written) as f64 / visits as f64;
    let disk = usage::bytes_on_disk(path)?;
    println!("{visits} visits with {} links each", LINKS.0 + LINKS.1);
    println!("processor time of a visit: {cpu:.1} us");
    println!("written for a visit: {written:.0} bytes");
    println!("on disk: {:.0} bytes a page", disk as f64 / f64::from(args.hosts * args.pages));
    println!("most memory: {:.0} MB", usage::memory_mb("VmHWM")?);
    Ok(())
}

fn restart(path: &Path) -> anyhow::Result<()> {
    let started = Instant::now();
    let frontier = Frontier::open(path, 1)?;
    let until = UnixMillis(i64::MAX);
    let query = DueQuery { until, most: 1, revisit_period_ms: Some(0) };
    let found = frontier.due_hosts(query, |_| false)?;
    let first = found.hosts.first().context("no host has pages")?;
    frontier.snapshot(first.host)?.context("the host is gone")?;
    println!("restart to the first URL: {:.0} ms", started.elapsed().as_secs_f64() * 1e3);
    Ok(())
}
