//! A region crawls on without the coordinator and without one of its agents, whichever way its
//! messages take.

use std::time::Duration;

use tests::demo::PeerPaths;
use tests::world::Size;

use crate::region_world::assert_polite;
use crate::small_world::SmallWorld;

const SIZE: Size = Size { agents: 4, hosts: 16, countries: 5, near_ms: None };
const DOCUMENTS: usize = 240;
/// Share of the crawl at which an agent is killed.
const KILL: f64 = 0.3;
/// The agent that is killed. It accepts no connections of others.
const VICTIM: usize = 1;
/// The agent whose pinned subnets the coordinator moves, and the one that gets them.
const GIVER: usize = 0;
const TAKER: usize = 2;
/// Requests that the dead agent began in this time before its end may be repeated: those in flight,
/// and those whose ends others had not heard of.
const IN_FLIGHT: Duration = Duration::from_secs(5);

/// The coordinator is away, and all agents but one collect their messages at that one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_region_crawls_on_without_the_coordinator_and_one_of_its_agents() {
    let mut world = SmallWorld::open_region(SIZE, DOCUMENTS, PeerPaths::Mailbox).await;
    world.delegate_hosts().await;
    world.until_region().await;
    world.deployment.seed(&world.setup.environment).await.unwrap();
    world.until_seeds().await;
    assert!(world.deployment.hosts_at(VICTIM).await.unwrap() > 0, "nothing to take over");
    world.deployment.coordinator.stop().await.unwrap();
    eprintln!("at {:.2} of the crawl: the coordinator is stopped", world.progress());
    kill_and_finish(&mut world).await;

    world.deployment.coordinator.restart().await.unwrap();
    world.until_taken_over(VICTIM).await;
    return_and_finish(world).await;
}

/// No agent accepts connections: all messages travel through the coordinator. In mid-crawl the
/// coordinator moves subnets from one member to another.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_region_without_listeners_takes_the_hosts_of_a_dead_agent_over() {
    let mut world = SmallWorld::open_region(SIZE, DOCUMENTS, PeerPaths::Relay).await;
    world.delegate_hosts().await;
    world.until_region().await;
    world.deployment.seed(&world.setup.environment).await.unwrap();
    world.until_seeds().await;
    assert!(world.deployment.hosts_at(VICTIM).await.unwrap() > 0, "nothing to take over");
    world.pin_elsewhere(GIVER, TAKER).await;
    kill_and_finish(&mut world).await;
    world.until_taken_over(VICTIM).await;
    return_and_finish(world).await;
}

/// Kills an agent; the others fetch what is left.
async fn kill_and_finish(world: &mut SmallWorld) {
    world.reach(KILL).await;
    world.deployment.agents[VICTIM].kill();
    let dead = world.address(VICTIM);
    let in_flight = world.setup.environment.referee().requests_of(dead, IN_FLIGHT);
    eprintln!("at {:.2} of the crawl: an agent is killed", world.progress());
    world.reach(1.0).await;
    let report = world.report();
    eprintln!("{report}");
    assert!(report.missing.is_empty(), "{:?}", report.missing);
    assert_polite(&report);
    assert!(report.agents.iter().any(|agent| agent.address == dead && agent.requests > 0));
    assert!(!report.shared_hosts.is_empty(), "nobody took the hosts of the dead agent over");
    // Only what the dead agent had not told the others may be fetched again.
    assert!(report.fetched_twice <= in_flight, "{:?}, {in_flight} in flight", report.repeats);
}

/// The dead agent returns, gets its subnets back, and ships what it had fetched.
async fn return_and_finish(mut world: SmallWorld) {
    world.deployment.agents[VICTIM].restart().unwrap();
    world.until_returned(VICTIM).await;
    world.until_shipped().await;
    assert_polite(&world.report());
    world.deployment.dismiss().await.unwrap();
}
