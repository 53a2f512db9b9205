//! Benchmark of the frontier: visits of many hosts, then a restart.
//!
//! Every visit asks for the state of its host and ends a fetch with a page of text and links, as
//! the crawl does. Checkpoints and syncs happen as in the agent. Printed are the processor time of
//! a visit, the bytes written, the memory, the size on disk, and the time until a restarted
//! frontier has its first URL.
//!
//! `cargo bench -p crawler-agent --bench frontier -- [--hosts N] [--pages N]`

use std::{path::Path, time::Instant};

use anyhow::Context as _;
use clap::Parser;
use crawler_agent::frontier::{
    After, Bounds, Change, Done, Frontier, FrontierHandle, HostNumber, PageHistory, PageRecord,
    QueueItem,
};
use delegation::calibration::{Sensitivity, Timing};
use model::{CrawlUrl, UnixMillis};
use protocol::{
    Route,
    page::{ContentHash, Fetch, Link, Outcome, Page},
};

/// Links of a page within its host, and to other agents' hosts.
const LINKS: (u32, u32) = (9, 2);
/// Bytes of a page's text.
const TEXT: usize = 6_000;
const NOW: UnixMillis = UnixMillis(1_760_000_000_000);

#[derive(Debug, Parser)]
struct Args {
    /// Number of hosts.
    #[arg(long, default_value_t = 2_000)]
    hosts: u32,
    /// Number of pages of each host.
    #[arg(long, default_value_t = 10)]
    pages: u32,
    /// Given by cargo.
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
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
            if effect.more {
                left.push(host);
            }
        }
        hosts = left;
        pack(store).await?;
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
    let shown = links.iter().map(|url| Link {
        url: url.to_string(),
        anchor: "the text of a link".into(),
        ..Link::default()
    });
    let fetch = fetch(item, shown.collect());
    let after = After {
        page: Some(record(item)),
        links,
        target_is_shared: false,
        due: Some(NOW),
        failures: 0,
        bounds: bounds(args),
    };
    Ok(Change::Done(Box::new(Done::new(item, fetch, after))))
}

fn record(item: &QueueItem) -> PageRecord {
    let mut past = PageHistory::default();
    past.get.observe(&Sensitivity::default(), Timing { ms: 20.0, bytes: 7_000 });
    PageRecord {
        path: item.url.path_and_query().to_owned(),
        depth: item.depth,
        etag: Some("\"5f3e2a1b9c8d7\"".into()),
        last_modified: Some("Tue, 03 Nov 2026 10:11:12 GMT".into()),
        sha256: Some([0xab; 32]),
        past,
    }
}

fn fetch(item: &QueueItem, links: Vec<Link>) -> Fetch {
    let page = Page {
        status: 200,
        media_type: "text/html".into(),
        charset: "UTF-8".into(),
        lang: Some("en".into()),
        title: "A title of usual length".into(),
        text: "some words ".repeat(TEXT / 11),
        sha256: ContentHash([0xab; 32]),
        canonical: None,
        links,
    };
    Fetch {
        url: item.url.to_string(),
        fetched_at: NOW,
        address: None,
        timing: None,
        wire_bytes: 7_000,
        outcome: Outcome::Page(page),
        trend: None,
    }
}

/// Takes the results as the outbox does, without their compression.
async fn pack(store: &FrontierHandle) -> anyhow::Result<()> {
    loop {
        let read =
            |frontier: &Frontier| Ok((frontier.oldest_results(4 << 20)?, frontier.next_package()?));
        let (results, seq) = store.read(read).await?;
        let Some((through, _)) = results.last() else { return Ok(()) };
        store.apply(Change::Sealed { seq, through: *through, bytes: 1 })?;
        store.sync().await?;
        store.apply(Change::Shipped { seq })?;
    }
}

/// What the process has used so far.
struct Usage {
    cpu_us: i64,
    written: u64,
}

impl Usage {
    fn now() -> anyhow::Result<Self> {
        let usage = nix::sys::resource::getrusage(nix::sys::resource::UsageWho::RUSAGE_SELF)?;
        let cpu = [usage.user_time(), usage.system_time()];
        let cpu_us = cpu.iter().map(|time| time.tv_sec() * 1_000_000 + time.tv_usec()).sum::<i64>();
        let io = std::fs::read_to_string("/proc/self/io")?;
        let written = io.lines().find_map(|line| line.strip_prefix("write_bytes: "));
        let written = written.context("/proc/self/io has no write_bytes")?.parse()?;
        Ok(Self { cpu_us, written })
    }
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
    let mut disk = 0;
    for entry in std::fs::read_dir(path)? {
        disk += entry?.metadata()?.len();
    }
    let status = std::fs::read_to_string("/proc/self/status")?;
    let memory = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    println!("{visits} visits with {} links each", LINKS.0 + LINKS.1);
    println!("processor time of a visit: {cpu:.1} us");
    println!("written for a visit: {written:.0} bytes");
    println!("on disk: {:.0} bytes a page", disk as f64 / f64::from(args.hosts * args.pages));
    println!("most memory: {}", memory.unwrap_or("unknown").trim());
    Ok(())
}

fn restart(path: &Path) -> anyhow::Result<()> {
    let started = Instant::now();
    let frontier = Frontier::open(path, 1)?;
    let mut first = None;
    frontier.hosts_to_revisit(0, |work, _| first = first.or(Some(work.host)))?;
    frontier.snapshot(first.context("no host has pages")?)?.context("the host is gone")?;
    println!("restart to the first URL: {:.0} ms", started.elapsed().as_secs_f64() * 1e3);
    Ok(())
}
