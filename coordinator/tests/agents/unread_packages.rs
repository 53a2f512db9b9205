//! A body that cannot be read is tried again; the others go on.

use bytes::Bytes;
use model::LedgerPosition;
use protocol::package;
use reqwest::StatusCode;
use sha2::{Digest as _, Sha256};
use store::packages::{self, FailedPackage, ReceivedPackage};

use crate::agent::{FakeAgent, PAGE, now, page, problem};
use crate::world::{self, Ground, Running, until};

/// A package with one page that contains a word.
fn package_with(agent: &FakeAgent, seq: u64, word: &str) -> Vec<u8> {
    agent.package(seq, &[page(&format!("{PAGE}{seq}"), "Page", word)])
}

/// Enters a package whose body is not in the storage.
async fn enter(ground: &Ground, agent: &FakeAgent, body: &[u8], object: &str) {
    let header = package::open(body, &agent.key.public()).unwrap().header().clone();
    let received = ReceivedPackage {
        header: &header,
        sha256: &Sha256::digest(body),
        object,
        bytes: body.len() as u64,
        foreign_hosts: &[],
    };
    packages::enter(ground.store(), &received, now()).await.unwrap();
}

async fn until_found(running: &Running, word: &str) {
    let index = &running.coordinator.packages.index;
    let is_found = || std::future::ready(world::search(index, word).total == 1);
    until("the page is found", is_found).await;
}

async fn failed(ground: &Ground) -> Vec<FailedPackage> {
    packages::list_failed(ground.store(), LedgerPosition::new(i64::MAX), 9).await.unwrap()
}

#[tokio::test]
async fn a_package_whose_body_cannot_be_read_is_listed_and_ingested_when_it_can() {
    let ground = Ground::new().await;
    let running = ground.start().await;
    let agent = FakeAgent::crawling(&running).await;
    // One body is missing; to read the other one is an error, because its folder is a file.
    std::fs::write(ground.packages().join("folder"), "").unwrap();
    let missing = package_with(&agent, 1, "recovered");
    enter(&ground, &agent, &missing, "missing.ncpk").await;
    let unreadable = package_with(&agent, 2, "repaired");
    enter(&ground, &agent, &unreadable, "folder/unreadable.ncpk").await;
    agent.ship_well(&running, 3, package_with(&agent, 3, "lucky")).await;
    until_found(&running, "lucky").await;
    until("both are listed", || async { failed(&ground).await.len() == 2 }).await;
    let listed = failed(&ground).await;
    let objects = ["unreadable.ncpk", "missing.ncpk"];
    for (failed, object) in listed.iter().zip(objects) {
        assert!(failed.failure.contains(object), "{failed:?}");
        assert_eq!(failed.agent, agent.id);
    }

    std::fs::remove_file(ground.packages().join("folder")).unwrap();
    let blobs = &running.coordinator.packages.blobs;
    blobs.put("missing.ncpk", Bytes::from(missing)).await.unwrap();
    blobs.put("folder/unreadable.ncpk", Bytes::from(unreadable)).await.unwrap();
    until_found(&running, "recovered").await;
    until_found(&running, "repaired").await;
    until("nothing has failed", || async { failed(&ground).await.is_empty() }).await;
    running.stop().await;
}

#[tokio::test]
async fn while_the_storage_is_away_packages_wait_and_uploads_are_refused_for_now() {
    let ground = Ground::new().await.with_shared_storage();
    let running = ground.start().await;
    let agent = FakeAgent::crawling(&running).await;
    ground.shared_storage().set_away(true);
    let (status, ..) = problem(agent.ship(&running, 1, package_with(&agent, 1, "one")).await).await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
    let waiting = package_with(&agent, 2, "two");
    enter(&ground, &agent, &waiting, "waiting.ncpk").await;
    until("the task fails", || {
        let status = running.coordinator.statuses.all().remove("ingest_packages");
        std::future::ready(status.is_some_and(|status| status.failing > 0))
    })
    .await;
    assert_eq!(failed(&ground).await, [], "nothing is wrong with the package");

    ground.shared_storage().set_away(false);
    let blobs = &running.coordinator.packages.blobs;
    blobs.put("waiting.ncpk", Bytes::from(waiting)).await.unwrap();
    agent.ship_well(&running, 1, package_with(&agent, 1, "one")).await;
    until_found(&running, "one").await;
    until_found(&running, "two").await;
    running.stop().await;
}
