//! Several coordinators on one database share the storage for packages, and each finds all pages.

use coordinator::packages::Packages;

use crate::agent::{FakeAgent, PAGE, page};
use crate::world::{self, Ground, Running, counts, until};

/// Ships one page under the package's number.
async fn ship(agent: &FakeAgent, running: &Running, seq: u64) -> String {
    let entries = [page(&format!("{PAGE}{seq}"), "Page", "perennial")];
    agent.ship_well(running, seq, agent.package(seq, &entries)).await
}

async fn until_found(packages: &Packages, pages: u64) {
    until("the pages are found", || {
        let found = world::search(&packages.index, "perennial");
        std::future::ready(found.total == pages)
    })
    .await;
}

#[tokio::test]
async fn a_second_coordinator_without_shared_storage_is_refused() {
    let ground = Ground::new().await;
    let first = ground.start().await;
    let beside = tempfile::tempdir().unwrap();
    let failure = ground.try_start_beside(&beside).await.err().unwrap();
    assert_eq!(failure.code(), 64);
    let sentence = failure.to_string();
    assert!(sentence.contains("--storage s3://"), "{sentence}");
    assert!(sentence.contains(&ground.packages().display().to_string()), "{sentence}");
    // A crash does not keep the first one from starting again.
    first.abort().await;
    ground.start().await.stop().await;
}

#[tokio::test]
async fn a_coordinator_with_other_shared_storage_is_refused() {
    let ground = Ground::new().await.with_shared_storage();
    let first = ground.start().await;
    let ground = ground.with_shared_storage();
    let beside = tempfile::tempdir().unwrap();
    let failure = ground.try_start_beside(&beside).await.err().unwrap();
    assert_eq!(failure.code(), 64, "{failure}");
    first.stop().await;
}

#[tokio::test]
async fn every_coordinator_takes_packages_and_finds_all_pages() {
    let ground = Ground::new().await.with_shared_storage();
    let leader = ground.start().await;
    let agent = FakeAgent::crawling(&leader).await;
    let beside = tempfile::tempdir().unwrap();
    let other = ground.start_beside(&beside).await;
    assert!(!other.coordinator.is_leader());
    assert_eq!(ship(&agent, &leader, 1).await, "stored");
    assert_eq!(ship(&agent, &other, 2).await, "stored");
    for running in [&leader, &other] {
        until_found(&running.coordinator.packages, 2).await;
    }
    until("both are counted", || async { counts(&ground, &leader).await.packages.ingested == 2 })
        .await;
    // The next leader applies what arrives without one, and has its pages already.
    leader.abort().await;
    assert_eq!(ship(&agent, &other, 3).await, "stored");
    until_found(&other.coordinator.packages, 3).await;
    until("the third is counted", || async {
        counts(&ground, &other).await.packages.ingested == 3
    })
    .await;
    assert_eq!(store::testing::most_ingestions(ground.store()).await.unwrap(), 1);
    other.stop().await;
}

#[tokio::test]
async fn packages_may_be_copied_to_shared_storage() {
    let ground = Ground::new().await;
    let first = ground.start().await;
    let agent = FakeAgent::crawling(&first).await;
    ship(&agent, &first, 1).await;
    until_found(&first.coordinator.packages, 1).await;
    first.stop().await;
    let before = ground.packages();
    let ground = ground.with_shared_storage();
    copy(&before, &ground.shared_storage().objects());
    // One without an index reads the package from its new place.
    let beside = tempfile::tempdir().unwrap();
    let second = ground.start_beside(&beside).await;
    until_found(&second.coordinator.packages, 1).await;
    second.stop().await;
}

fn copy(from: &std::path::Path, to: &std::path::Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}
