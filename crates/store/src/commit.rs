//! The end of a transaction that wrote many rows.

use sqlx::{Postgres, Transaction};

/// Checks the foreign keys that wait for the end by plans that are kept, and commits.
///
/// Statements are planned anew each time ([`crate::open`]), and so are the checks; to look a row up
/// by its primary key takes less time than to plan that, and it is done for each row.
pub(crate) async fn commit(mut tx: Transaction<'_, Postgres>) -> Result<(), sqlx::Error> {
    sqlx::raw_sql("SET LOCAL plan_cache_mode = auto").execute(&mut *tx).await?;
    tx.commit().await
}
