//! Subnets whose addresses are in several places, and the pieces into which they are split.

use std::net::IpAddr;

use hierarchy::{Range, SubnetSplit};
use model::{SearchId, UnixMillis};

use crate::columns::range;
use crate::moment::Moment;
use crate::{Store, StoreError};

/// Writes down that a search, or fetches, showed this. What was said of the same whole before is
/// replaced.
pub async fn note(
    store: &Store,
    split: &SubnetSplit,
    search: Option<SearchId>,
    now: UnixMillis,
) -> Result<(), StoreError> {
    let doing = StoreError::doing("write down a split");
    let mut tx = store.begin().await.map_err(doing)?;
    sqlx::query("DELETE FROM subnet_splits WHERE whole_first = $1 AND whole_last = $2")
        .bind(split.whole.first())
        .bind(split.whole.last())
        .execute(&mut *tx)
        .await
        .map_err(doing)?;
    sqlx::query(
        "INSERT INTO subnet_splits (first, last, whole_first, whole_last, search, found_at)
         SELECT first, last, $3, $4, $5, $6 FROM unnest($1::inet[], $2::inet[]) AS p (first, last)
         ON CONFLICT DO NOTHING",
    )
    .bind(split.parts.iter().map(Range::first).collect::<Vec<_>>())
    .bind(split.parts.iter().map(Range::last).collect::<Vec<_>>())
    .bind(split.whole.first())
    .bind(split.whole.last())
    .bind(search.map(SearchId::get))
    .bind(Moment(now))
    .execute(&mut *tx)
    .await
    .map_err(doing)?;
    tx.commit().await.map_err(doing)
}

/// Deletes what fetches showed of this whole before: they show now that it is in one place.
pub async fn withdraw(store: &Store, whole: &Range) -> Result<(), StoreError> {
    sqlx::query(
        "DELETE FROM subnet_splits
         WHERE whole_first = $1 AND whole_last = $2 AND search IS NULL",
    )
    .bind(whole.first())
    .bind(whole.last())
    .execute(&store.pool())
    .await
    .map(drop)
    .map_err(StoreError::doing("withdraw a split"))
}

/// All of them.
pub async fn all(store: &Store) -> Result<Vec<SubnetSplit>, StoreError> {
    let rows: Vec<(IpAddr, IpAddr, IpAddr, IpAddr)> =
        sqlx::query_as(include_str!("subnet_splits/all.sql"))
            .fetch_all(&store.pool())
            .await
            .map_err(StoreError::doing("read the splits"))?;
    let mut splits: Vec<SubnetSplit> = Vec::new();
    for (whole_first, whole_last, first, last) in rows {
        let whole = range(whole_first, whole_last)?;
        let part = range(first, last)?;
        match splits.last_mut().filter(|split| split.whole == whole) {
            Some(split) => split.parts.push(part),
            None => splits.push(SubnetSplit { whole, parts: vec![part] }),
        }
    }
    Ok(splits)
}

/// When the last one was found; none where there is none.
pub async fn newest(store: &Store) -> Result<Option<UnixMillis>, StoreError> {
    let newest: Option<Moment> = sqlx::query_scalar("SELECT max(found_at) FROM subnet_splits")
        .fetch_one(&store.pool())
        .await
        .map_err(StoreError::doing("see when the last split was found"))?;
    Ok(newest.map(|at| at.0))
}
