//! Data with far fewer records than the current generation is refused.

use std::time::Instant;

use rir_loader::load::load;
use rir_loader::read::{Options, read};
use store::generations;
use store::testing::TestDatabase;

use crate::fixtures;

#[tokio::test]
async fn a_missing_file_is_refused_without_force() {
    let database = TestDatabase::new().await.unwrap();
    let store = database.store();
    let all = fixtures::data();
    load(store, &all, false, Instant::now(), &|_| {}).await.unwrap();
    let before = generations::live(store).await.unwrap();
    let paths = fixtures::all();
    let some = read(&paths[..4], Options::default(), &|_| {}).unwrap();
    let refused = load(store, &some, false, Instant::now(), &|_| {}).await.unwrap_err().to_string();
    assert!(refused.contains("(ripencc: none, "), "{refused}");
    assert!(refused.contains("load with --force"), "{refused}");
    assert_eq!(generations::live(store).await.unwrap(), before);
    load(store, &some, true, Instant::now(), &|_| {}).await.unwrap();
    // What is compared is what is in use now: more is never too much.
    load(store, &all, false, Instant::now(), &|_| {}).await.unwrap();
}

#[tokio::test]
async fn a_text_of_no_registry_may_be_missing_later() {
    let database = TestDatabase::new().await.unwrap();
    let store = database.store();
    let dir = tempfile::tempdir().unwrap();
    let dump = dir.path().join("people");
    std::fs::write(&dump, "person: A. Person\nnic-hdl: A-RIPE\nsource: RIPE\n").unwrap();
    let mut paths = vec![dump];
    paths.extend(fixtures::all());
    let with_dump = read(&paths, Options::default(), &|_| {}).unwrap();
    assert_eq!(with_dump.files[0].registry, None);
    load(store, &with_dump, false, Instant::now(), &|_| {}).await.unwrap();
    let sources = generations::live(store).await.unwrap().unwrap().sources;
    let registries: Vec<_> = sources.iter().map(|source| source.registry.as_str()).collect();
    assert_eq!(registries, ["afrinic", "apnic", "arin", "lacnic", "ripencc"]);
    load(store, &fixtures::data(), false, Instant::now(), &|_| {}).await.unwrap();
}
