//! Several coordinators on one database share the storage for packages.

use crate::world::Ground;

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
