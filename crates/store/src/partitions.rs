//! Partitions by day: made ahead, and dropped when their rows are not needed any more.
//!
//! To drop a partition takes no time; to delete its rows would read and write each of them. A day
//! without a partition goes to the default one, from which rows are deleted.

use model::UnixMillis;
use sqlx::AssertSqlSafe;

use crate::error::code;
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
/// What Postgres answers after that time.
const LOCK_NOT_AVAILABLE: &str = "55P03";

/// What one run did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Kept {
    /// Tables that were made or dropped.
    pub changed: u64,
    /// Tables that are left for the next run, because another transaction locks them.
    pub locked: u64,
}

impl Kept {
    /// Counts a change. A change that can wait counts as locked if it did not get its lock, and is
    /// not tried again in this run: a dump of the database holds all locks for hours, and each
    /// further attempt would delay insertions.
    fn count(&mut self, done: Result<(), sqlx::Error>, can_wait: bool) -> Result<(), sqlx::Error> {
        match done {
            Ok(()) => self.changed += 1,
            Err(error) if can_wait && code(&error).as_deref() == Some(LOCK_NOT_AVAILABLE) => {
                self.locked += 1;
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }
}

/// Makes the partitions of the next days and drops those of days that are not kept.
pub async fn keep(store: &Store, now: UnixMillis) -> Result<Kept, StoreError> {
    let mut kept = Kept::default();
    for daily in &BY_DAY {
        make_missing(store, daily, now, &mut kept).await?;
    }
    for daily in &BY_DAY {
        drop_outdated(store, daily, now, &mut kept).await?;
        empty_default(store, daily, now).await?;
    }
    Ok(kept)
}

async fn make_missing(
    store: &Store,
    daily: &Daily,
    now: UnixMillis,
    kept: &mut Kept,
) -> Result<(), StoreError> {
    for (partition, day, next, can_wait) in missing(store, daily.table, now).await? {
        let made = make(store, daily, &partition, &day, &next).await;
        kept.count(made, can_wait).map_err(StoreError::doing("make a partition"))?;
    }
    Ok(())
}

async fn drop_outdated(
    store: &Store,
    daily: &Daily,
    now: UnixMillis,
    kept: &mut Kept,
) -> Result<(), StoreError> {
    for partition in outdated(store, daily.table, daily.days, now).await? {
        let dropped = drop_table(store, &partition).await;
        kept.count(dropped, true).map_err(StoreError::doing("drop a partition"))?;
    }
    Ok(())
}

/// Deletes the rows of days that are not kept and had no partition.
async fn empty_default(store: &Store, daily: &Daily, now: UnixMillis) -> Result<(), StoreError> {
    let Daily { table, days, .. } = daily;
    let rows =
        format!("DELETE FROM {table}_default WHERE day <= ($1 AT TIME ZONE 'UTC')::date - $2");
    sqlx::query(AssertSqlSafe(rows))
        .bind(Moment(now))
        .bind(days)
        .execute(&store.pool())
        .await
        .map(drop)
        .map_err(StoreError::doing("delete rows of days without a partition"))
}

/// Names, days and next days of the partitions that `table` lacks, and whether each can wait.
async fn missing(
    store: &Store,
    table: &str,
    now: UnixMillis,
) -> Result<Vec<(String, String, String, bool)>, StoreError> {
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
