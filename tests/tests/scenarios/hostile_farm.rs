//! The real agent among hostile servers: every fetch ends in a named outcome, memory stays bounded,
//! and healthy hosts are crawled as usual.

use std::net::IpAddr;
use std::time::Duration;

use tokio::time::Instant;

use tests::harness::until;

use crate::hostile_web::{self, Behaviour, Farm, Healthy, Line, Settings};

/// Most memory of an agent, with whatever it fetches.
const MEMORY: u64 = 256 << 20;

/// Size of large bodies where the time counts.
const BULK: usize = 1 << 20;

/// Size of large bodies where the memory counts: twice what the agent keeps of links.
const LARGE_BULK: usize = 2 << 20;

/// Fetches of the agent at the same time.
const SLOTS: usize = 64;

/// Time without hostile hosts, and with them.
const ALONE: Duration = Duration::from_mins(1);
const AMONG: Duration = Duration::from_mins(4);

/// Processors whose use says that the measurement is one of the machine and not of the agent.
const BUSY: f64 = 1.5;

/// Share of their rate that healthy hosts keep.
const KEPT: f64 = 0.9;

/// Time for the slowest behaviours and a busy machine.
const LIMIT: Duration = Duration::from_secs(100);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hostile_servers_end_in_named_outcomes_and_harm_nobody() {
    let healthy = Healthy { hosts: 20, pages: 20 };
    let healthy_pages = healthy.hosts * healthy.pages;
    let mut farm = Farm::start(hostile_web::all(BULK), healthy, Settings::short()).await;
    let ended = until("named outcomes of all hosts, and all healthy pages", LIMIT, || {
        let mut open = open(&farm);
        let fetched = farm.healthy_requests();
        if fetched < healthy_pages {
            open.push(format!("{fetched} of {healthy_pages} healthy pages"));
        }
        std::future::ready(if open.is_empty() { Ok(()) } else { Err(open.join("\n")) })
    });
    ended.await.unwrap();
    assert_eq!(beyond_bounds(&farm), Vec::<String>::new());
    assert_eq!(farm.healthy_requests(), healthy_pages);
    assert_eq!(farm.forbidden_requests(), 0);
    assert!(farm.peak_memory() < MEMORY, "{} bytes", farm.peak_memory());
    assert!(farm.stop_agent().await.success());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "run by hand: takes five minutes"]
async fn healthy_hosts_keep_their_rate_among_hostile_ones() {
    let alone = measure(Vec::new(), ALONE).await;
    eprintln!("alone: {alone:?}");
    // The pages with the most expensive links are enough for every slot of the agent.
    let worst = (0..SLOTS).map(|_| hostile_web::expensive_links(LARGE_BULK));
    let among = measure(hostile_web::all(LARGE_BULK).into_iter().chain(worst).collect(), AMONG);
    let among = among.await;
    eprintln!("among hostile hosts: {among:?}");
    let busy = "the agent had no processor time left: build it optimised, or wait for the others";
    assert!(among.processors < BUSY, "{busy}: {among:?}");
    assert!(among.rate >= KEPT * alone.rate, "{alone:?} {among:?}");
    assert!(among.peak < MEMORY, "{} bytes", among.peak);
}

/// What healthy hosts got, and what the agent took.
#[derive(Debug)]
struct Measured {
    /// Requests a second to all healthy hosts.
    rate: f64,
    /// Most memory, in bytes.
    peak: u64,
    /// Processors that the agent used.
    processors: f64,
}

/// Crawls healthy hosts among these hostile ones for a while.
async fn measure(hostile: Vec<Behaviour>, duration: Duration) -> Measured {
    let healthy = Healthy { hosts: 50, pages: 5_000 };
    let mut farm = Farm::start(hostile, healthy, Settings::shipped()).await;
    let begun = until("a page of each healthy host", LIMIT, || {
        let requests = farm.healthy_requests();
        std::future::ready(if requests >= healthy.hosts { Ok(()) } else { Err(requests) })
    });
    begun.await.unwrap();
    let before = farm.healthy_requests();
    let cpu_before = farm.cpu_s();
    let started = Instant::now();
    tokio::time::sleep(duration).await;
    let seconds = started.elapsed().as_secs_f64();
    let rate = (farm.healthy_requests() - before) as f64 / seconds;
    let processors = (farm.cpu_s() - cpu_before) / seconds;
    let peak = farm.peak_memory();
    assert!(farm.stop_agent().await.success());
    Measured { rate, peak, processors }
}

/// What is not as expected yet.
fn open(farm: &Farm) -> Vec<String> {
    let log = farm.log();
    let mut open = Vec::new();
    for (address, behaviour) in farm.hostile() {
        let outcomes = outcomes(&log, *address, behaviour.kind);
        if !outcomes.iter().any(|outcome| outcome.contains(behaviour.outcome)) {
            open.push(format!("{}: {outcomes:?}", behaviour.name));
        }
    }
    open
}

/// Hosts that received too few or too many requests.
fn beyond_bounds(farm: &Farm) -> Vec<String> {
    let mut beyond = Vec::new();
    for (address, behaviour) in farm.hostile() {
        let requests = farm.requests(*address);
        let (least, most) = behaviour.requests;
        if !(least..=most).contains(&requests) {
            beyond.push(format!("{}: {requests} requests", behaviour.name));
        }
    }
    beyond
}

/// Outcomes of the requests of one kind to a host.
fn outcomes<'a>(log: &'a [Line], host: IpAddr, kind: &str) -> Vec<&'a str> {
    let host = format!("//{host}:");
    let here = log.iter().filter(|line| line.kind == kind && line.target.contains(&host));
    here.map(|line| line.outcome.as_str()).collect()
}
