//! Partitions by day: made ahead, and dropped when their rows are not needed any more.
//!
//! To drop a partition takes no time; to delete its rows would read and write each of them. A day
//! without a partition goes to the default one, from which rows are deleted.

use model::UnixMillis;
use sqlx::AssertSqlSafe;

use crate::moment::Moment;
use crate::{Store, StoreError, activity, fetches, loads};

/// A table that is partitioned by day.
struct Daily {
    table: &'static str,
    /// The table that rows are inserted into, of which `table` may be a partition itself.
    root: &'static str,
    /// Days that are kept.
    days: i32,
}

const BY_DAY: [Daily; 4] = [
    Daily { table: "host_days", root: "host_days", days: loads::KEPT_DAYS },
    Daily { table: "subnet_days", root: "subnet_days", days: loads::KEPT_DAYS },
    Daily { table: "error_days", root: "error_days", days: fetches::ERROR_DAYS },
    Daily { table: "activity_minutes", root: "activity", days: activity::MINUTE_DAYS },
];
/// Days for which partitions are made ahead.
const AHEAD: i32 = 3;
/// How long a statement waits for a lock, during which other statements wait for it.
const PATIENCE: &str = "SET LOCAL lock_timeout = '2s'";

/// Makes the partitions of the next days and drops those of days that are not kept. Returns how
/// many tables were made or dropped.
pub async fn keep(store: &Store, now: UnixMillis) -> Result<u64, StoreError> {
    let doing = StoreError::doing("keep the partitions");
    let mut changed = 0;
    for daily in BY_DAY {
        let Daily { table, days, .. } = daily;
        for (partition, day, next) in missing(store, table, now).await? {
            make(store, &daily, &partition, &day, &next).await.map_err(doing)?;
            changed += 1;
        }
        for partition in outdated(store, table, days, now).await? {
            drop_table(store, &partition).await.map_err(doing)?;
            changed += 1;
        }
        let rows =
            format!("DELETE FROM {table}_default WHERE day <= ($1 AT TIME ZONE 'UTC')::date - $2");
        sqlx::query(AssertSqlSafe(rows))
            .bind(Moment(now))
            .bind(days)
            .execute(&store.pool())
            .await
            .map_err(doing)?;
    }
    Ok(changed)
}

/// Names, days and next days of the partitions that `table` lacks.
async fn missing(
    store: &Store,
    table: &str,
    now: UnixMillis,
) -> Result<Vec<(String, String, String)>, StoreError> {
    sqlx::query_as(include_str!("partitions/missing.sql"))
        .bind(table)
        .bind(Moment(now))
        .bind(AHEAD)
        .fetch_all(&store.pool())
        .await
        .map_err(StoreError::doing("list the partitions that are missing"))
}

/// Names of the partitions whose day is not kept.
async fn outdated(
    store: &Store,
    table: &str,
    days: i32,
    now: UnixMillis,
) -> Result<Vec<String>, StoreError> {
    sqlx::query_scalar(include_str!("partitions/outdated.sql"))
        .bind(table)
        .bind(Moment(now))
        .bind(days)
        .fetch_all(&store.pool())
        .await
        .map_err(StoreError::doing("list the partitions that are outdated"))
}

/// Makes a partition, with the rows of its day that the default partition holds.
async fn make(
    store: &Store,
    daily: &Daily,
    partition: &str,
    day: &str,
    next: &str,
) -> Result<(), sqlx::Error> {
    let Daily { table, root, .. } = daily;
    let steps = [
        PATIENCE.to_owned(),
        format!("CREATE TABLE {partition} (LIKE {table} INCLUDING ALL)"),
        // An insertion chooses its partition under the lock of the root. One that had chosen the
        // default partition and waited for its lock would fail once the new partition is there.
        format!("LOCK TABLE ONLY {root} IN SHARE ROW EXCLUSIVE MODE"),
        format!("LOCK TABLE {table}_default IN ACCESS EXCLUSIVE MODE"),
        format!(
            "WITH gone AS (DELETE FROM {table}_default WHERE day = '{day}' RETURNING *)
             INSERT INTO {partition} SELECT * FROM gone"
        ),
        format!(
            "ALTER TABLE {table} ATTACH PARTITION {partition}
             FOR VALUES FROM ('{day}') TO ('{next}')"
        ),
    ];
    run(store, &steps).await
}

async fn drop_table(store: &Store, partition: &str) -> Result<(), sqlx::Error> {
    run(store, &[PATIENCE.to_owned(), format!("DROP TABLE {partition}")]).await
}

/// Runs statements in one transaction. Their parts are names and days that Postgres itself gave.
async fn run(store: &Store, steps: &[String]) -> Result<(), sqlx::Error> {
    let mut tx = store.begin().await?;
    for step in steps {
        sqlx::raw_sql(AssertSqlSafe(step.clone())).execute(&mut *tx).await?;
    }
    tx.commit().await
}
