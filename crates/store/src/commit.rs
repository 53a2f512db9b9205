//! The end of a transaction that wrote many rows.

use sqlx::{Postgres, Transaction};

/// Commits, with cached plans for the checks of foreign keys that are deferred to the end.
///
/// Other statements are planned each time they run ([`crate::open`]). A check of a foreign key is
/// run for each row and only looks a row up by its primary key, which takes less time than to plan
/// it.
pub(crate) async fn commit(mut tx: Transaction<'_, Postgres>) -> Result<(), sqlx::Error> {
    sqlx::raw_sql("SET LOCAL plan_cache_mode = auto").execute(&mut *tx).await?;
    tx.commit().await
}
