//! Opening, migrating and leader election on a real server.

use std::path::Path;
use std::time::Duration;

use sqlx::migrate::Migrator;
use store::testing::{TestDatabase, begin, execute};
use store::{
    Address, Candidacy, Election, Leadership, Listener, SchemaChange, Store, StoreError, notify,
};

#[tokio::test]
async fn a_fresh_database_has_todays_schema() {
    let database = TestDatabase::new().await.unwrap();
    database.store().ping().await.unwrap();
    // Opening it again finds nothing to do.
    let again = store::open(&Address::url(&database.url()).unwrap()).await.unwrap();
    again.ping().await.unwrap();
    again.close().await;
}

#[tokio::test]
async fn every_table_and_column_says_what_it_means() {
    let database = TestDatabase::new().await.unwrap();
    let pool = sqlx::PgPool::connect(&database.url()).await.unwrap();
    let silent: Vec<String> = sqlx::query_scalar(
        "SELECT c.relname || coalesce('.' || a.attname, '')
         FROM pg_class c LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT \
         a.attisdropped
         WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition
           AND c.relnamespace = 'public'::regnamespace AND c.relname <> '_sqlx_migrations'
           AND (obj_description(c.oid, 'pg_class') IS NULL OR col_description(c.oid, a.attnum) IS \
           NULL)",
    )
    .fetch_all(&pool)
    .await
    .unwrap();
    assert!(silent.is_empty(), "comment on these: {silent:?}");
    pool.close().await;
}

#[tokio::test]
async fn a_program_that_hangs_does_not_keep_its_locks() {
    let database = TestDatabase::new().await.unwrap();
    let statement = "INSERT INTO settings (name, value) VALUES ('held', '1')";
    let mut held = begin(database.store(), statement).await.unwrap();
    // The server ends the session by itself; waiting for that would take half a minute.
    let limit: String = sqlx::query_scalar("SHOW idle_in_transaction_session_timeout")
        .fetch_one(&mut *held)
        .await
        .unwrap();
    assert_eq!(limit, "30s");
}

#[tokio::test]
async fn two_tests_do_not_see_each_other() {
    let one = TestDatabase::new().await.unwrap();
    let other = TestDatabase::new().await.unwrap();
    assert_ne!(one.url(), other.url());
}

#[tokio::test]
async fn the_private_database_is_created_when_missing() {
    let socket_dir =
        tokio::task::spawn_blocking(cluster::testing::socket_dir).await.unwrap().unwrap();
    let address = Address::private(&socket_dir);
    let (one, other) = tokio::join!(store::open(&address), store::open(&address));
    one.unwrap().ping().await.unwrap();
    other.unwrap().ping().await.unwrap();
}

#[tokio::test]
async fn no_server_is_one_sentence_with_the_place() {
    let error = store::open(&Address::private(Path::new("/nowhere/run"))).await.unwrap_err();
    assert!(matches!(&error, StoreError::Connect { place, .. } if place == "/nowhere/run"));
    assert!(error.is_transient(), "a server may appear there");
}

#[tokio::test]
async fn databases_of_a_newer_release_and_of_builds_before_the_first_are_refused_by_name() {
    let database = TestDatabase::new().await.unwrap();
    let address = Address::url(&database.url()).unwrap();
    let later = "INSERT INTO _sqlx_migrations (version, description, success, checksum, \
                 execution_time) VALUES (9999, 'later', true, '', 0)";
    execute(database.store(), later).await.unwrap();
    let error = store::open(&address).await.unwrap_err();
    assert!(matches!(error, StoreError::Newer { version: 9999 }), "{error}");
    let other = "UPDATE _sqlx_migrations SET checksum = 'other' WHERE version = 1";
    execute(database.store(), other).await.unwrap();
    let error = store::open(&address).await.unwrap_err();
    assert!(matches!(error, StoreError::Unreleased), "{error}");
    execute(database.store(), "DELETE FROM _sqlx_migrations WHERE version = 9999").await.unwrap();
    let error = store::open(&address).await.unwrap_err();
    assert!(matches!(error, StoreError::Unreleased), "{error}");
}

type Tried<T> = Result<T, Box<dyn std::error::Error>>;

/// Opens a database with at most these changes of its schema.
async fn open_as(database: &TestDatabase, change: SchemaChange) -> Result<(), StoreError> {
    let address = Address::url(&database.url())?;
    store::open_as(&address, 1, change).await.map(drop)
}

/// How many migrations were applied; none without the table of them.
async fn migrations(database: &TestDatabase) -> Tried<Option<i64>> {
    let pool = sqlx::PgPool::connect(&database.url()).await?;
    let count = sqlx::query_scalar("SELECT count(*) FROM _sqlx_migrations").fetch_one(&pool).await;
    Ok(count.ok())
}

#[tokio::test]
async fn an_empty_database_gets_tables_only_from_those_who_may_create_them() {
    for change in [SchemaChange::None, SchemaChange::Migrate] {
        let database = empty().await.unwrap();
        let error = open_as(&database, change).await.unwrap_err();
        assert!(matches!(error, StoreError::NoSchema { .. }), "{error}");
        assert_eq!(migrations(&database).await.unwrap(), None, "{change:?}");
    }
    for change in [SchemaChange::Create, SchemaChange::CreateOrMigrate] {
        let database = empty().await.unwrap();
        open_as(&database, change).await.unwrap();
        assert!(migrations(&database).await.unwrap() > Some(1), "{change:?}");
    }
}

#[tokio::test]
async fn a_database_of_another_program_is_refused_and_stays_as_it_is() {
    let database = empty().await.unwrap();
    for statement in ["CREATE TABLE orders (id int)", "CREATE TABLE customers (id int)"] {
        execute(database.store(), statement).await.unwrap();
    }
    let error = open_as(&database, SchemaChange::CreateOrMigrate).await.unwrap_err();
    assert!(!error.is_transient());
    let told = error.to_string();
    for part in ["(customers, orders)", "check the database URL"] {
        assert!(told.contains(part), "{told}");
    }
    assert_eq!(migrations(&database).await.unwrap(), None);
}

async fn empty() -> Result<TestDatabase, StoreError> {
    let database = TestDatabase::new().await?;
    for statement in ["DROP SCHEMA public CASCADE", "CREATE SCHEMA public"] {
        execute(database.store(), statement).await?;
    }
    Ok(database)
}

#[tokio::test]
async fn an_older_schema_is_migrated_only_by_those_who_may() {
    for change in [SchemaChange::None, SchemaChange::Create] {
        let database = older().await.unwrap();
        let error = open_as(&database, change).await.unwrap_err();
        assert!(matches!(error, StoreError::Older { applied: 1, .. }), "{error}");
        let told = error.to_string();
        assert!(told.contains("start the coordinator of this version first"), "{told}");
        assert_eq!(migrations(&database).await.unwrap(), Some(1), "{change:?}");
    }
    for change in [SchemaChange::Migrate, SchemaChange::CreateOrMigrate] {
        let database = older().await.unwrap();
        open_as(&database, change).await.unwrap();
        open_as(&database, SchemaChange::None).await.unwrap();
    }
}

/// With the first migration only.
async fn older() -> Tried<TestDatabase> {
    let database = empty().await?;
    let pool = sqlx::PgPool::connect(&database.url()).await?;
    let directory = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../migrations"));
    Migrator::new(directory).await?.run_to(1, &pool).await?;
    pool.close().await;
    Ok(database)
}

#[tokio::test]
async fn one_decides_until_it_resigns() {
    let database = TestDatabase::new().await.unwrap();
    let first = elected(database.store()).await.unwrap().expect("nobody decides yet");
    let first = first.check().await.unwrap();
    let second = Candidacy::begin(database.store()).await.unwrap();
    let Election::Waiting(second) = second.ask().await.unwrap() else { panic!("two decide") };
    first.resign().await;
    // The server frees the lock when it notices the closed connection, a moment after we closed it.
    let elected = async {
        let mut waiting = second;
        while let Election::Waiting(still) = waiting.ask().await.unwrap() {
            waiting = still;
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), elected).await.expect("the right is free again");
}

/// The leadership, if nobody has it.
async fn elected(store: &Store) -> Result<Option<Leadership>, StoreError> {
    Ok(match Candidacy::begin(store).await?.ask().await? {
        Election::Won(leadership) => Some(leadership),
        Election::Waiting(_) => None,
    })
}

#[tokio::test]
async fn deciders_of_two_databases_do_not_meet() {
    let one = TestDatabase::new().await.unwrap();
    let other = TestDatabase::new().await.unwrap();
    let first = elected(one.store()).await.unwrap();
    let second = elected(other.store()).await.unwrap();
    assert!(first.is_some() && second.is_some());
}

#[tokio::test]
async fn a_listener_tells_of_an_interruption_and_listens_on() {
    let database = TestDatabase::new().await.unwrap();
    let store = database.store();
    let mut listener = Listener::open(store, "news").await.unwrap();
    notify(store, "news", "first").await.unwrap();
    assert_eq!(listener.receive().await.unwrap().as_deref(), Some("first"));
    let cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
               WHERE datname = current_database() AND query LIKE 'LISTEN%'";
    assert_eq!(execute(store, cut).await.unwrap(), 1);
    assert_eq!(listener.receive().await.unwrap(), None);
    notify(store, "news", "second").await.unwrap();
    assert_eq!(listener.receive().await.unwrap().as_deref(), Some("second"));
}
