//! A crawl without faults: the promises of the demo, in small.

use tests::demo::{Verdict, promises};
use tests::world::Size;

use crate::small_world::SmallWorld;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn registry_data_becomes_search_results_and_every_promise_is_kept() {
    let mut world =
        SmallWorld::open(Size { agents: 4, hosts: 24, countries: 8, near_ms: None }, 300).await;
    world.deployment.seed(&world.setup.environment).await.unwrap();
    let numbers = world.finish().await;
    eprintln!("{numbers}");
    let faults = numbers.referee.faults();
    assert!(faults.is_empty(), "{faults:#?}");
    let verdict = Verdict::of(promises(&numbers));
    assert_eq!(verdict, Verdict::Kept, "{verdict}");
    world.deployment.dismiss().await.unwrap();
}
