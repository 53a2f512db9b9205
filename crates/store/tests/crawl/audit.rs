//! The audit log.

use sqlx::{AssertSqlSafe, Connection as _, PgConnection};
use store::testing::{TestDatabase, execute};

#[tokio::test]
async fn rare_entries_are_found_by_an_index() {
    let database = TestDatabase::new().await.unwrap();
    let entries = "INSERT INTO audit (actor, action, subject)
                   SELECT 'ada', 'agent.pause', 'agt_' || n FROM generate_series(1, 5000) AS n";
    execute(database.store(), entries).await.unwrap();
    execute(database.store(), "ANALYZE audit").await.unwrap();
    let mut db = PgConnection::connect(&database.url()).await.unwrap();
    let list = concat!("PREPARE audit_list AS ", include_str!("../../src/audit/list.sql"));
    let count = concat!("PREPARE audit_count AS ", include_str!("../../src/audit/count.sql"));
    for prepare in [list, count] {
        sqlx::raw_sql(prepare).execute(&mut db).await.unwrap();
    }
    for (filter, index) in [
        ("'vera', NULL, NULL", "audit_actor"),
        ("NULL, 'storage', NULL", "audit_action"),
        ("NULL, 'storage.forget', NULL", "audit_action"),
        ("NULL, NULL, 'agt_7'", "audit_subject"),
    ] {
        for statement in [
            format!("EXPLAIN EXECUTE audit_list (100000, {filter}, NULL, NULL, 50)"),
            format!("EXPLAIN EXECUTE audit_count ({filter}, NULL, NULL, 10001)"),
        ] {
            let explain = AssertSqlSafe(statement.as_str());
            let plan: Vec<String> = sqlx::query_scalar(explain).fetch_all(&mut db).await.unwrap();
            assert!(plan.iter().any(|line| line.contains(index)), "{statement}: {plan:#?}");
        }
    }
}
