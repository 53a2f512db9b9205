//! Loads the fixtures into Postgres.

use std::sync::Mutex;
use std::time::Instant;

use rir_loader::Step;
use rir_loader::load::load;
use store::generations;
use store::testing::TestDatabase;

use crate::fixtures;

#[tokio::test]
async fn what_was_nested_is_what_the_coordinator_reads() {
    let database = TestDatabase::new().await.unwrap();
    let data = fixtures::data();
    let steps = Mutex::new(vec![]);
    let progress = |step: Step<'_>| steps.lock().unwrap().push(format!("{step:?}"));
    let report = load(database.store(), &data, false, Instant::now(), &progress).await.unwrap();
    assert_eq!((report.subnets, report.companies, report.missing.len()), (35, 17, 0));
    assert_eq!(*steps.lock().unwrap(), ["Copy { rows: 52 }", "Copied(17)", "Copied(52)", "Done"]);

    let facts = generations::live(database.store()).await.unwrap().unwrap();
    assert_eq!((facts.id.get(), facts.subnets), (report.generation, 35));
    let arin = &facts.sources[2];
    assert_eq!(
        (arin.registry.as_str(), arin.file.as_str(), arin.records),
        ("arin", "delegated-arin-extended", 6)
    );
    assert_eq!((arin.serial.as_str(), arin.date.as_deref()), ("1539406814230", Some("2018-10-13")));

    let read = generations::read(database.store(), facts.id).await.unwrap().unwrap();
    let described =
        |h: &hierarchy::Hierarchy| h.iter().map(|s| format!("{s:?}")).collect::<Vec<_>>();
    assert_eq!(described(&read), described(&data.hierarchy));
}

#[tokio::test]
async fn a_second_load_waits_for_the_first() {
    let database = TestDatabase::new().await.unwrap();
    let first = generations::Load::try_begin(database.store()).await.unwrap().unwrap();
    let data = fixtures::data();
    let (notify, waiting) = tokio::sync::oneshot::channel();
    let notify = Mutex::new(Some(notify));
    let progress = |step: Step<'_>| {
        if let (Step::WaitForOtherLoad, Some(notify)) = (step, notify.lock().unwrap().take()) {
            notify.send(()).unwrap();
        }
    };
    let end_first = async {
        waiting.await.unwrap();
        drop(first);
    };
    let (report, ()) =
        tokio::join!(load(database.store(), &data, false, Instant::now(), &progress), end_first);
    assert_eq!(report.unwrap().subnets, 35);
}
