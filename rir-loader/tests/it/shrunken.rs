//! Data that shrank do not take the place of what is in use.

use std::time::Instant;

use rir_loader::load::{load, load_with};
use rir_loader::read::read;
use store::generations;
use store::testing::TestDatabase;

use crate::fixtures;

#[tokio::test]
async fn a_forgotten_file_is_noticed_unless_somebody_insists() {
    let database = TestDatabase::new().await.unwrap();
    let store = database.store();
    let all = fixtures::nested();
    load(store, &all, Instant::now(), &|_| {}).await.unwrap();
    let before = generations::live(store).await.unwrap();
    let paths = fixtures::all();
    let some = read(&paths[..4], &|_| {}).unwrap();
    let refused = load(store, &some, Instant::now(), &|_| {}).await.unwrap_err().to_string();
    assert!(refused.contains("(ripencc: none, "), "{refused}");
    assert!(refused.contains("load with --force"), "{refused}");
    assert_eq!(generations::live(store).await.unwrap(), before);
    load_with(store, &some, true, Instant::now(), &|_| {}).await.unwrap();
    // What is compared is what is in use now: more is never too much.
    load(store, &all, Instant::now(), &|_| {}).await.unwrap();
}
