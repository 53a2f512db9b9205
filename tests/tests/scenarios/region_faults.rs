//! Regions under fault schedules from seeds, with the coordinator away for the whole crawl: agents
//! are killed and return, links are cut in one direction, and links flap.
//!
//! `REGION_SEEDS=0..20 REGION_AGENTS=8 REGION_DOCUMENTS=5000 cargo nextest run -p tests
//! --run-ignored only regions_survive_fault_schedules` runs many large ones.

use std::ops::Range;
use std::time::{Duration, Instant};

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use tests::demo::PeerPaths;
use tests::harness::until;
use tests::net::{Links, Scope};
use tests::world::Size;

use crate::region_world::assert_polite;
use crate::small_world::{LIMIT, SmallWorld};

/// Faults of a schedule.
const FAULTS: usize = 4;
/// The last fault begins before this share of the crawl is done.
const LAST: f64 = 0.8;
/// As in the configuration of the deployment: silence after which an agent is suspected.
const SUSPECT: Duration = Duration::from_millis(2_500);
/// Requests that a killed agent began in this time before its end may be repeated.
const IN_FLIGHT: Duration = Duration::from_secs(5);

#[derive(Debug, Clone, Copy)]
enum Fault {
    /// An agent is killed and returns after this time.
    Kill { agent: usize, down: Duration },
    /// Nothing travels from one agent to another for this time.
    OneWay { from: usize, to: usize, time: Duration },
    /// The link between two agents breaks again and again.
    Flapping { one: usize, other: usize, times: u32 },
}

/// A schedule: each fault with the share of the crawl at which it begins.
fn schedule(seed: u64, agents: usize) -> Vec<(f64, Fault)> {
    let mut chance = ChaCha8Rng::seed_from_u64(seed);
    let mut shares: Vec<f64> = (0..FAULTS).map(|_| chance.random_range(0.05..LAST)).collect();
    shares.sort_by(f64::total_cmp);
    shares.into_iter().map(|share| (share, draw(&mut chance, agents))).collect()
}

fn draw(chance: &mut ChaCha8Rng, agents: usize) -> Fault {
    let one = chance.random_range(0..agents);
    let other = (one + chance.random_range(1..agents)) % agents;
    let seconds = chance.random_range(1..15);
    match chance.random_range(0..4) {
        0 => Fault::OneWay { from: one, to: other, time: Duration::from_secs(seconds) },
        1 => Fault::Flapping { one, other, times: chance.random_range(2..6) },
        _ => Fault::Kill { agent: one, down: Duration::from_secs(seconds) },
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "run by hand: each schedule takes a minute and more"]
async fn regions_survive_fault_schedules() {
    let agents = number("REGION_AGENTS", 4);
    let documents = number("REGION_DOCUMENTS", 400);
    for seed in seeds() {
        trial(seed, agents, documents).await;
    }
}

fn number(variable: &str, usual: usize) -> usize {
    std::env::var(variable).map_or(usual, |text| text.parse().unwrap())
}

fn seeds() -> Range<u64> {
    let Ok(range) = std::env::var("REGION_SEEDS") else { return 0..2 };
    let (from, to) = range.split_once("..").unwrap();
    from.parse().unwrap()..to.parse().unwrap()
}

async fn trial(seed: u64, agents: usize, documents: usize) {
    let countries = 5.min(agents + 1);
    let size = Size { agents, hosts: 4 * agents, countries, near_ms: None };
    let mut world = SmallWorld::open_region(size, documents, PeerPaths::Direct).await;
    world.delegate_hosts().await;
    world.until_region().await;
    world.deployment.seed(&world.setup.environment).await.unwrap();
    world.until_seeds().await;
    world.deployment.coordinator.stop().await.unwrap();
    // Hosts with a Crawl-delay of a second come last, and have the more pages, the larger the web.
    let limit = LIMIT + documents as u32 * Duration::from_millis(100);
    let begun = Instant::now();
    let mut in_flight = 0;
    for (share, fault) in schedule(seed, agents) {
        world.reach_within(share, limit).await;
        eprintln!("seed {seed}, at {:.2} of the crawl: {fault:?}", world.progress());
        in_flight += execute(&mut world, fault).await;
    }
    let converged = until_converged(&world).await;
    world.reach_within(1.0, limit).await;
    let took = begun.elapsed();
    let report = world.report();
    assert!(report.missing.is_empty(), "seed {seed}: {:?}", report.missing);
    assert_polite(&report);
    let twice = report.fetched_twice;
    assert!(twice <= in_flight, "seed {seed}: {:?}, {in_flight} in flight", report.repeats);
    world.deployment.coordinator.restart().await.unwrap();
    world.until_no_takeover().await;
    eprintln!(
        "seed {seed}: {} pages of {} hosts by {agents} agents in {:.0} s; {twice} fetched twice, \
         {in_flight} in flight at kills; views agreed {:.1} s after the last fault",
        report.unique,
        report.hosts_seen,
        took.as_secs_f64(),
        converged.as_secs_f64()
    );
    world.deployment.dismiss().await.unwrap();
}

/// Executes one fault to its end; returns the number of requests that were in flight at a kill.
async fn execute(world: &mut SmallWorld, fault: Fault) -> usize {
    match fault {
        Fault::Kill { agent, down } => {
            world.deployment.agents[agent].kill();
            let address = world.address(agent);
            let in_flight = world.setup.environment.referee().requests_of(address, IN_FLIGHT);
            tokio::time::sleep(down).await;
            world.deployment.agents[agent].restart().unwrap();
            in_flight
        }
        Fault::OneWay { from, to, time } => {
            cut(world, Scope::OneWay(world.address(from), world.address(to)), time).await;
            0
        }
        Fault::Flapping { one, other, times } => {
            let scope = Scope::Addresses(world.address(one), world.address(other));
            for _ in 0..times {
                cut(world, scope, Duration::from_secs(1)).await;
                tokio::time::sleep(Duration::from_millis(700)).await;
            }
            0
        }
    }
}

async fn cut(world: &SmallWorld, scope: Scope, time: Duration) {
    let links: Links = world.setup.environment.links().unwrap();
    links.cut(scope).unwrap();
    tokio::time::sleep(time).await;
    links.heal(scope).unwrap();
}

/// Waits until nobody suspects anybody; returns how long that took.
async fn until_converged(world: &SmallWorld) -> Duration {
    let begun = Instant::now();
    // A process that has just started needs the time of its start, and status files are written
    // each second.
    let limit = 2 * SUSPECT + Duration::from_secs(5);
    let look = || {
        let suspects = |agent: &tests::harness::Agent| {
            let status = agent.status();
            let suspected = status["region"]["suspected"].as_array().map(Vec::len);
            suspected.unwrap_or(usize::MAX)
        };
        let all: Vec<usize> = world.deployment.agents.iter().map(suspects).collect();
        let is_over = all.iter().all(|count| *count == 0);
        std::future::ready(if is_over { Ok(()) } else { Err(format!("{all:?}")) })
    };
    until("views without suspicions", limit, look).await.unwrap();
    begun.elapsed()
}
