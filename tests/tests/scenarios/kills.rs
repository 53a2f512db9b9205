//! `kill -9` of agents, of the coordinator and of its Postgres, five times each, while they crawl.

use rand::seq::SliceRandom as _;
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use store::Address;
use tests::harness::until;
use tests::world::Size;

use crate::small_world::{LIMIT, SmallWorld};

const EACH: usize = 5;
/// Kills happen before this share of the crawl is done.
const LAST: f64 = 0.9;

#[derive(Debug, Clone, Copy)]
enum Victim {
    Agent,
    Coordinator,
    Postgres,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_is_killed_everything_is_crawled_and_ingested_once() {
    let mut world =
        SmallWorld::open(Size { agents: 4, hosts: 24, countries: 8, near_ms: None }, 400).await;
    let mut chance = ChaCha8Rng::seed_from_u64(1);
    world.deployment.seed(&world.setup.environment).await.unwrap();
    for (moment, victim) in kills(&mut chance) {
        reach(&world, moment).await;
        eprintln!("at {:.2} of the crawl: kill -9 of the {victim:?}", world.progress());
        strike(&mut world, victim, &mut chance).await;
    }
    let numbers = world.finish().await;
    let all = numbers.referee.coverage.all;
    assert_eq!(all.fetched, all.expected, "{:?}", numbers.referee.missing);
    assert_eq!(numbers.packages_ingested, numbers.packages);
    // A page that was under way when its agent was killed is fetched again; nothing else is told
    // twice.
    assert!(numbers.ingested <= numbers.referee.fetches, "{numbers}");
    assert_eq!(numbers.indexed, numbers.indexable);
    assert_eq!(numbers.referee.disallowed_fetched, 0, "{:?}", numbers.referee.disallowed);
    assert_once(&world).await;
    world.deployment.dismiss().await.unwrap();
}

/// Moments as shares of the crawl, rising, and who is killed then.
fn kills(chance: &mut ChaCha8Rng) -> Vec<(f64, Victim)> {
    let mut victims: Vec<Victim> = [Victim::Agent, Victim::Coordinator, Victim::Postgres]
        .into_iter()
        .flat_map(|it| [it; EACH])
        .collect();
    victims.shuffle(chance);
    let mut moments: Vec<f64> = victims.iter().map(|_| chance.random_range(0.0..LAST)).collect();
    moments.sort_by(f64::total_cmp);
    moments.into_iter().zip(victims).collect()
}

async fn reach(world: &SmallWorld, share: f64) {
    let look = || {
        let seen = world.progress();
        std::future::ready(if seen >= share { Ok(()) } else { Err(seen) })
    };
    until("share of the crawl", LIMIT, look).await.unwrap();
}

async fn strike(world: &mut SmallWorld, victim: Victim, chance: &mut impl rand::Rng) {
    match victim {
        Victim::Agent => {
            let number = chance.random_range(0..world.deployment.agents.len());
            world.deployment.agents[number].restart().unwrap();
        }
        Victim::Coordinator => {
            world.deployment.coordinator.kill();
            world.deployment.coordinator.restart().await.unwrap();
        }
        Victim::Postgres => world.deployment.coordinator.kill_postgres().await.unwrap(),
    }
}

/// The ledger itself says how often each package was ingested.
async fn assert_once(world: &SmallWorld) {
    let sockets = world.run_directory.path().join("coordinator/run");
    let store = store::open(&Address::private(&sockets)).await.unwrap();
    let most = store::testing::most_ingestions(&store).await.unwrap();
    assert_eq!(most, 1);
    store.close().await;
}
