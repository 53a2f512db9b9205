//! The audit log.

use sqlx::{Connection as _, PgConnection};
use store::testing::{TestDatabase, execute};

#[tokio::test]
async fn entries_about_a_rare_subject_are_found_by_an_index() {
    let database = TestDatabase::new().await.unwrap();
    let entries = "INSERT INTO audit (actor, action, subject)
                   SELECT 'ada', 'agent.pause', 'agt_' || n FROM generate_series(1, 5000) AS n";
    execute(database.store(), entries).await.unwrap();
    execute(database.store(), "ANALYZE audit").await.unwrap();
    let mut db = PgConnection::connect(&database.url()).await.unwrap();
    let prepare = concat!("PREPARE audited AS ", include_str!("../../src/audit/list.sql"));
    sqlx::raw_sql(prepare).execute(&mut db).await.unwrap();
    let explain = "EXPLAIN EXECUTE audited (100000, NULL, NULL, 'agt_7', NULL, NULL, 50)";
    let plan: Vec<String> = sqlx::query_scalar(explain).fetch_all(&mut db).await.unwrap();
    assert!(plan.iter().any(|line| line.contains("audit_subject")), "{plan:#?}");
}
