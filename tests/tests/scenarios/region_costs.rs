//! Processor time of a page in regions of several sizes, with the times that ship.
//!
//! `cargo nextest run -p tests --run-ignored only a_page_costs_the_same_in_every_region
//! --no-capture` prints it. `REGION_SIZES=2,4,8,16` names the sizes.

use std::time::Duration;

use tests::demo::{PeerPaths, RegionPlan, RegionTimes};
use tests::world::Size;

use crate::small_world::SmallWorld;

/// Documents for each agent: the pages of an agent are as many in each region.
const DOCUMENTS: usize = 500;
/// At the end of a crawl a few hosts with a Crawl-delay are left, and most agents wait.
const MEASURED: f64 = 0.8;
/// Agents that come later than the first ones join one at a time: each waits until a majority has
/// left the version before, and for a term of its leases.
const JOINS: Duration = Duration::from_mins(4);
/// No crawl takes longer.
const LIMIT: Duration = Duration::from_mins(10);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "run by hand: it measures"]
async fn a_page_costs_the_same_in_every_region() {
    let sizes = std::env::var("REGION_SIZES").unwrap_or_else(|_| "2,4,8,16".to_owned());
    for size in sizes.split(',') {
        measure(size.parse().unwrap()).await;
    }
}

/// Crawls with this many agents, each of which has four hosts.
async fn measure(agents: usize) {
    let size = Size { agents, hosts: 4 * agents, countries: 5.min(agents + 1), near_ms: None };
    let plan = RegionPlan { paths: PeerPaths::Direct, times: RegionTimes::Shipped };
    let mut world = SmallWorld::open_with(size, DOCUMENTS * agents, Some(plan)).await;
    world.delegate_hosts().await;
    world.until_region_within(agents as u32 * JOINS).await;
    let before = cpu_s(&mut world);
    world.deployment.seed(&world.setup.environment).await.unwrap();
    world.reach_within(MEASURED, LIMIT).await;
    let took_s = cpu_s(&mut world) - before;
    let report = world.report();
    eprintln!(
        "{agents} agents: {} pages, {:.2} ms of processor time a page",
        report.unique,
        1_000.0 * took_s / report.unique as f64
    );
    world.deployment.dismiss().await.unwrap();
}

/// Processor time of all agents since they started, in seconds.
fn cpu_s(world: &mut SmallWorld) -> f64 {
    world.deployment.agents.iter_mut().map(|agent| agent.process().usage().cpu_s).sum()
}
