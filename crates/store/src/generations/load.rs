//! Loads a new generation in one transaction.

use std::time::{Duration, Instant};

use hierarchy::{Generation, Hierarchy};
use sqlx::types::Json;
use sqlx::{PgTransaction, Postgres};

use super::copy::{copy_companies, copy_subnets};
use super::shrink::refusal;
use super::{CHANNEL, Source};
use crate::columns::{bigint, int};
use crate::moment::Moment;
use crate::{Store, StoreError, listen};

/// The advisory lock that a load holds, so that two never run at once.
const LOAD_LOCK: i64 = 0x6765_6e65_7261;

/// Deletes the retired generation and retires the live one.
const RETIRE: [&str; 4] = [
    include_str!("delete_retired_subnets.sql"),
    include_str!("delete_retired_companies.sql"),
    "DELETE FROM generations WHERE state = 'retired'",
    "UPDATE generations SET state = 'retired' WHERE state = 'live'",
];

/// A generation being written. Dropping it undoes everything.
#[derive(Debug)]
pub struct Load {
    tx: PgTransaction<'static>,
    id: i32,
}

impl Load {
    /// Begins a generation; `None` while another process loads one.
    pub async fn try_begin(store: &Store) -> Result<Option<Self>, StoreError> {
        let mut tx = transaction(store).await?;
        let ours: bool = sqlx::query_scalar("SELECT pg_try_advisory_xact_lock($1)")
            .bind(LOAD_LOCK)
            .fetch_one(&mut *tx)
            .await
            .map_err(StoreError::doing("see whether another load is under way"))?;
        if ours { Self::begin(tx).await.map(Some) } else { Ok(None) }
    }

    /// Begins a generation as soon as no other process loads one.
    pub async fn wait(store: &Store) -> Result<Self, StoreError> {
        let mut tx = transaction(store).await?;
        sqlx::query("SELECT pg_advisory_xact_lock($1)")
            .bind(LOAD_LOCK)
            .execute(&mut *tx)
            .await
            .map_err(StoreError::doing("wait for another load to end"))?;
        Self::begin(tx).await
    }

    async fn begin(mut tx: PgTransaction<'static>) -> Result<Self, StoreError> {
        let id =
            sqlx::query_scalar("INSERT INTO generations (state) VALUES ('loading') RETURNING id")
                .fetch_one(&mut *tx)
                .await
                .map_err(StoreError::doing("begin a generation"))?;
        Ok(Self { tx, id })
    }

    /// The number that the generation will have.
    pub fn generation(&self) -> Generation {
        Generation::new(self.id.into())
    }

    /// Refuses sources that hold far fewer records than those of the generation in use.
    pub async fn refuse_shrunken(&mut self, sources: &[Source]) -> Result<(), StoreError> {
        let statement = "SELECT sources FROM generations WHERE state = 'live'";
        let in_use: Option<Json<Vec<Source>>> = sqlx::query_scalar(statement)
            .fetch_optional(&mut *self.tx)
            .await
            .map_err(StoreError::doing("look at the sources of the generation in use"))?;
        in_use.and_then(|in_use| refusal(&in_use.0, sources)).map_or(Ok(()), Err)
    }

    /// Copies all rows; `copied` is called with the number of rows sent so far (companies first,
    /// then subnets).
    pub async fn copy(
        &mut self,
        hierarchy: &Hierarchy,
        copied: &(dyn Fn(u64) + Sync),
    ) -> Result<(), StoreError> {
        let companies =
            copy_companies(&mut self.tx, self.id, hierarchy.companies(), copied).await?;
        copy_subnets(&mut self.tx, self.id, hierarchy, &|rows| copied(companies + rows)).await?;
        sqlx::query("UPDATE generations SET subnets = $2, companies = $3 WHERE id = $1")
            .bind(self.id)
            .bind(int(hierarchy.len()))
            .bind(int(hierarchy.companies().len()))
            .execute(&mut *self.tx)
            .await
            .map_err(StoreError::doing("count what was copied"))?;
        Ok(())
    }

    /// Makes the generation live and notifies the receivers of [`CHANNEL`]. `begun` is when the
    /// first byte was read. Only the generation that was live until now is kept as retired.
    pub async fn swap(
        self,
        begun: Instant,
        sources: &[Source],
    ) -> Result<(Generation, Duration), StoreError> {
        self.put_to_use(begun, Json(sources.to_vec()), None).await
    }

    /// [`swap`](Self::swap) for a generation that was made of the one in use: its sources and their
    /// age are the same.
    pub async fn swap_same_data(mut self, begun: Instant) -> Result<Generation, StoreError> {
        let (sources, read_at): (Json<Vec<Source>>, Option<Moment>) = sqlx::query_as(
            "SELECT sources, coalesce(read_at, live_at) FROM generations WHERE state = 'live'",
        )
        .fetch_one(&mut *self.tx)
        .await
        .map_err(StoreError::doing("look at the sources of the generation in use"))?;
        self.put_to_use(begun, sources, read_at).await.map(|(generation, _)| generation)
    }

    async fn put_to_use(
        mut self,
        begun: Instant,
        sources: Json<Vec<Source>>,
        read_at: Option<Moment>,
    ) -> Result<(Generation, Duration), StoreError> {
        let doing = StoreError::doing("swap the new generation in");
        let generation = self.generation();
        for statement in RETIRE {
            sqlx::query(statement).execute(&mut *self.tx).await.map_err(doing)?;
        }
        let took = begun.elapsed();
        sqlx::query(include_str!("load.sql"))
            .bind(self.id)
            .bind(bigint(took.as_millis()))
            .bind(sources)
            .bind(read_at)
            .execute(&mut *self.tx)
            .await
            .map_err(doing)?;
        listen::notify_in(&mut *self.tx, CHANNEL, &generation.to_string()).await.map_err(doing)?;
        self.tx.commit().await.map_err(doing)?;
        Ok((generation, took))
    }
}

async fn transaction(store: &Store) -> Result<sqlx::Transaction<'static, Postgres>, StoreError> {
    let doing = StoreError::doing("begin a load");
    let mut tx = store.begin().await.map_err(doing)?;
    // The loader computes within the transaction, for minutes on a slow machine.
    sqlx::query("SET LOCAL idle_in_transaction_session_timeout = 0")
        .execute(&mut *tx)
        .await
        .map_err(doing)?;
    Ok(tx)
}
