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
