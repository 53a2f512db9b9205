//! A generation goes in whole and comes out as it was.

#![expect(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use hierarchy::{
    Builder, Companies, Company, CompanyId, Generation, Hierarchy, Record, Registry, SubnetKind,
};
use sqlx::postgres::PgListener;
use store::generations::{self, Load, Source};
use store::testing::TestDatabase;

fn hierarchy(companies: &[&str]) -> Hierarchy {
    let mut table = Companies::default();
    let mut builder = Builder::default();
    for (place, handle) in (0_u8..).zip(companies) {
        let name = (place % 2 == 0).then_some("A name\twith a tab");
        let company = Some(table.push(Company { registry: Registry::Lacnic, handle, name }));
        for range in
            [format!("200.{place}.0.0 - 200.{place}.1.254"), format!("2800:{place:x}::/32")]
        {
            let range = range.parse().unwrap();
            let registry = Some(Registry::Lacnic);
            builder.add(Record {
                range,
                kind: SubnetKind::Delegated,
                registry,
                company,
                country: "BR".parse().ok(),
            });
        }
    }
    let block = Record {
        range: "200.0.0.0/8".parse().unwrap(),
        kind: SubnetKind::Block,
        registry: None,
        company: None,
        country: None,
    };
    builder.add(block);
    builder.build(Generation::new(0), table).0
}

fn source() -> Source {
    Source {
        registry: "lacnic".to_owned(),
        file: "delegated-lacnic-extended".to_owned(),
        serial: "20181012".to_owned(),
        date: Some("2018-10-12".to_owned()),
        records: 57_841,
    }
}

async fn load(database: &TestDatabase, hierarchy: &Hierarchy) -> Generation {
    let mut load = Load::try_begin(database.store()).await.unwrap().unwrap();
    load.copy(hierarchy, &|_| {}).await.unwrap();
    load.swap(Instant::now(), &[source()]).await.unwrap().0
}

fn described(hierarchy: &Hierarchy) -> Vec<String> {
    let company = |id: Option<CompanyId>| id.and_then(|id| hierarchy.company(id));
    hierarchy.iter().map(|s| format!("{s:?} {:?} {:?}", s.parent(), company(s.company()))).collect()
}

#[tokio::test]
async fn what_was_written_is_read() {
    let database = TestDatabase::new().await.unwrap();
    let store = database.store();
    assert_eq!(generations::live(store).await.unwrap(), None);
    let written = hierarchy(&["a", "b\\N", "ç"]);
    let sent = AtomicU64::new(0);
    let mut load = Load::try_begin(store).await.unwrap().unwrap();
    load.copy(&written, &|rows| sent.store(rows, Ordering::Relaxed)).await.unwrap();
    let (id, _) = load.swap(Instant::now(), &[source()]).await.unwrap();
    assert_eq!(sent.into_inner(), 3 + written.len() as u64);

    let facts = generations::live(store).await.unwrap().unwrap();
    assert_eq!((facts.id, facts.subnets, facts.companies), (id, written.len() as u64, 3));
    assert_eq!(facts.sources, [source()]);
    let read = generations::read(store, id).await.unwrap().unwrap();
    assert_eq!(described(&read), described(&written));
    assert_eq!(read.generation(), id);
    assert!(generations::read(store, Generation::new(id.get() + 1)).await.unwrap().is_none());
}

#[tokio::test]
async fn a_load_that_does_not_end_leaves_everything_as_it_was() {
    let database = TestDatabase::new().await.unwrap();
    let first = load(&database, &hierarchy(&["a"])).await;
    let mut unfinished = Load::try_begin(database.store()).await.unwrap().unwrap();
    unfinished.copy(&hierarchy(&["b", "c"]), &|_| {}).await.unwrap();
    assert!(Load::try_begin(database.store()).await.unwrap().is_none(), "two loads at once");
    drop(unfinished);
    assert_eq!(generations::live(database.store()).await.unwrap().unwrap().id, first);
    // The lock went with the transaction.
    let second = Load::wait(database.store()).await.unwrap();
    assert!(second.generation() > first);
}

#[tokio::test]
async fn a_swap_retires_the_old_generation_and_tells_who_listens() {
    let database = TestDatabase::new().await.unwrap();
    let mut listener = PgListener::connect(&database.url()).await.unwrap();
    listener.listen(generations::CHANNEL).await.unwrap();
    let mut ids = vec![];
    for companies in [&["a"][..], &["b"], &["c", "d"]] {
        let id = load(&database, &hierarchy(companies)).await;
        assert_eq!(listener.recv().await.unwrap().payload(), id.to_string());
        ids.push(id);
    }
    let store = database.store();
    assert_eq!(generations::live(store).await.unwrap().unwrap().id, ids[2]);
    generations::set_remapped(store, ids[2], model::UnixMillis(1)).await.unwrap();
    let is_remapped = async |id| generations::is_remapped(store, id).await.unwrap();
    assert!(is_remapped(ids[2]).await && !is_remapped(ids[1]).await);
    // One retired generation is kept, older ones are gone.
    assert!(generations::read(store, ids[1]).await.unwrap().is_some());
    assert!(generations::read(store, ids[0]).await.unwrap().is_none());
}
